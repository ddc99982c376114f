// SPDX-License-Identifier: Apache-2.0
// Derivatives of derivatives along tangents, by both ways to get them, and at kinks.
#include "harness/numbers/autodiff/dual_over.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

namespace {

using namespace gradverify;

using Moving = DualOver<Dual>;
using Recorded = DualOver<Traced>;

/// The tangent of f at x along 1, and its derivative by x, by a tape.
struct Derivatives {
    Bounded first, second;
};
Derivatives by_tape(const std::function<Recorded(const Recorded&)>& f, double x,
                    double along = 1.0) {
    Tape tape;
    const Traced at = tape.input(x);
    const Recorded y = f({at, Traced(along)});
    const Tape::Seed seed{y.tangent().node(), 1.0};
    return {y.tangent().value(),
            tape.bounded_gradients({&seed, 1})[static_cast<std::size_t>(at.node())]};
}

/// A function on both scalars, and its first two derivatives at x.
template <class Function>
void check_derivatives(const Function& f, double x, double first, double second) {
    CAPTURE(x);
    const Moving y = f(Moving(Dual(x, 1.0), Dual(1.0)));
    CHECK(y.tangent().value() == doctest::Approx(first).epsilon(1e-12));
    CHECK(y.tangent().tangent() == doctest::Approx(second).epsilon(1e-12));
    const Derivatives taped = by_tape(f, x);
    CHECK(taped.first.value() == doctest::Approx(first).epsilon(1e-12));
    CHECK(taped.second.value() == doctest::Approx(second).epsilon(1e-12));
    CHECK(taped.second.error() >= 0.0);
    CHECK(taped.second.error() <= 1e-4 * (1.0 + std::abs(second)));
}

}  // namespace

TEST_CASE("second derivatives are those of the formulas, forwards and by a tape") {
    for (const double x : {0.3, 1.7}) {
        check_derivatives([](const auto& z) { return z * z * z; }, x, 3 * x * x, 6 * x);
        check_derivatives([](const auto& z) { return 1.0 / z; }, x, -1 / (x * x), 2 / (x * x * x));
        check_derivatives([](const auto& z) { return (z - 2.0) / (z * z); }, x,
                          4 / (x * x * x) - 1 / (x * x), 2 / (x * x * x) - 12 / (x * x * x * x));
        check_derivatives([](const auto& z) { return sin(2.0 * z); }, x, 2 * std::cos(2 * x),
                          -4 * std::sin(2 * x));
        check_derivatives([](const auto& z) { return rsqrt(z); }, x, -0.5 * std::pow(x, -1.5),
                          0.75 * std::pow(x, -2.5));
        const double t = std::tanh(x);
        check_derivatives([](const auto& z) { return tanh(z); }, x, 1 - t * t,
                          -2 * t * (1 - t * t));
        const double s = 1 / (1 + std::exp(-x));
        check_derivatives([](const auto& z) { return z * sigmoid(z); }, x, s * (1 + x * (1 - s)),
                          s * (1 - s) * (2 + x * (1 - 2 * s)));
        // x to the power of a constant, and a constant to the power of x.
        check_derivatives(
            [](const auto& z) { return pow(z, std::remove_cvref_t<decltype(z)>(2.5)); }, x,
            2.5 * std::pow(x, 1.5), 3.75 * std::sqrt(x));
        const double log3 = std::log(3.0), power = std::pow(3.0, x);
        check_derivatives(
            [](const auto& z) { return pow(std::remove_cvref_t<decltype(z)>(3.0), z); }, x,
            log3 * power, log3 * log3 * power);
        check_derivatives([](const auto& z) { return floor(z) * z + abs(z) * max(z, -z); }, x,
                          std::floor(x) + 2 * x, 2);
    }
}

TEST_CASE("a plain constant has no tangent, and a slope without end leaves a tangent of zero") {
    const Recorded none(4.0);
    CHECK(none.tangent().is_constant());
    CHECK((sqrt(none) * none / none).tangent().is_constant());
    Tape tape;
    const Recorded still(tape.input(0.0), Traced(0.0));
    CHECK(sqrt(still).tangent().value().value() == 0.0);
    CHECK(sqrt(Moving(Dual(0.0, 1.0))).tangent().value() == 0.0);
}

TEST_CASE("at a kink either side's tangent is within the bound, beside it one alone") {
    const auto relu = [](const Recorded& z) { return max(z, Recorded(0.0)); };
    const auto is_within = [](const Bounded& bounded, double value) {
        return std::abs(bounded.value() - value) <= bounded.error();
    };
    const Derivatives at = by_tape(relu, 0.0, 3.0);
    CHECK(is_within(at.first, 0.0));
    CHECK(is_within(at.first, 3.0));
    CHECK_FALSE(is_within(at.first, 3.5));
    const Derivatives above = by_tape(relu, 0.5, 3.0);
    CHECK(is_within(above.first, 3.0));
    CHECK_FALSE(is_within(above.first, 2.9));
    const Derivatives of_abs = by_tape([](const Recorded& z) { return abs(z); }, 0.0, 3.0);
    CHECK(is_within(of_abs.first, -3.0));
    CHECK(is_within(of_abs.first, 3.0));
    CHECK(by_tape([](const Recorded& z) { return abs(z); }, -2.0, 3.0).first.value() == -3.0);
    // Where a number does not move from the kink, nobody knows the side.
    CHECK(std::isnan(max(Moving(Dual(0.0, 0.0), Dual(3.0)), Moving(0.0)).tangent().value()));
    CHECK(max(Moving(Dual(0.0, 1.0), Dual(3.0)), Moving(0.0)).tangent().value() == 3.0);
    CHECK(max(Moving(Dual(0.0, -1.0), Dual(3.0)), Moving(0.0)).tangent().value() == 0.0);
}

TEST_CASE("comparisons are those of the values, and counted once") {
    const ScopedDecisions decisions;
    Tape tape;
    const Recorded a(tape.input(1.0), Traced(5.0)), b(tape.input(1.0), Traced(-5.0));
    CHECK_FALSE(a < b);
    CHECK(decisions.made().ties == 1);
    CHECK(Recorded(1.0) < Recorded(2.0));
    CHECK(decisions.made().ties == 1);
}
