// SPDX-License-Identifier: Apache-2.0
// Derivatives of derivatives along tangents, by both ways to get them, and at kinks.
#include "harness/numbers/autodiff/dual_over.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

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

// Each part of a tangent's bound shows: gamma(1) = 1/3, gamma(2) = 1, gamma(3) = 3.
const Rounding coarse{.unit_roundoff = 0.25, .smallest_normal = 0.5};

/// A constant that moves by a tangent of this error; a factor.
Recorded moved(double tangent, double error = 0.0) {
    return {Traced(2.0), Traced(Bounded::within(tangent, error), Tape::constant)};
}
Recorded factor(double value, double error = 0.0) {
    return Recorded(Traced(Bounded::within(value, error), Tape::constant));
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

TEST_CASE(
    "a tangent's bound has all paths to it, their errors, and the longest chain of roundings") {
    const ScopedRounding rounding(coarse);
    // Paths that cancel: M = 8, and an addition. What is copied is rounded by its operation alone.
    const Recorded none = moved(4.0) + moved(-4.0);
    const double summed = 8.0 / 3 + 0.5;
    struct Line {
        Recorded of;
        double value, error;
    };
    const std::vector<Line> lines{
        {moved(4.0, 1.0), 4.0, 1.0},
        // M = 16 and E = 8 behind a slope of 3 +- 1.
        {factor(3.0, 1.0) * moved(4.0, 1.0), 12.0, 8.0 * 4 / 3 + 24.0 / 3 + 0.5},
        // A factor of 1/2 is a quotient, 0.5 +- 3 in this arithmetic: M = 14, E = 15.5.
        {moved(4.0, 1.0) / factor(2.0), 2.0, 15.5 * 4 / 3 + 29.5 / 3 + 0.5},
        {none, 0.0, summed},
        {factor(-1.0) * none, 0.0, summed * 4 / 3 + 0.5},
        {factor(3.0) * none, 0.0, 24.0 + 2 * 0.5},
        {factor(1.0, 1.0) * none, 0.0, 8.0 * 2 + 24.0 + 2 * 0.5},
        // On top of the longer chain, in either order.
        {factor(3.0) * none + moved(1.0), 1.0, 3 * 25.0 + 3 * 0.5},
        {moved(1.0) + factor(3.0) * none, 1.0, 3 * 25.0 + 3 * 0.5},
        {moved(0.0, 1.0) + moved(4.0), 4.0, 4.0 / 3 + 5.0 / 3 + 0.5},
        {factor(3.0) * moved(0.0, 1.0), 0.0, 3.0 * 4 / 3 + 3.0 / 3 + 0.5}};
    for (const Line& line : lines) {
        CAPTURE(&line - lines.data());
        CHECK(line.of.tangent().value().value() == line.value);
        CHECK(line.of.tangent().value().error() == doctest::Approx(line.error).epsilon(1e-12));
    }
}

TEST_CASE(
    "where the paths to a tangent, with their errors, may overflow together, it has no bound") {
    Rounding up_to_8 = coarse;
    up_to_8.largest = 8.0;
    const ScopedRounding rounding(up_to_8);
    const auto has_bound = [](const Recorded& number) {
        return std::isfinite(number.tangent().value().error());
    };
    CHECK(has_bound(moved(4.0) + moved(-4.0)));
    CHECK_FALSE(has_bound(factor(2.0) * (moved(4.0) + moved(-4.0))));
    // 6 and an error of 1, times 1.25, is 8.75.
    const Recorded both = moved(3.0, 0.5) + moved(-3.0, 0.5);
    CHECK(has_bound(factor(1.125) * both));
    CHECK_FALSE(has_bound(factor(1.25) * both));
}

TEST_CASE("a recorded tangent of zero is no path, but may move; a constant one adds no operation") {
    const ScopedRounding rounding(coarse);
    Tape tape;
    const Recorded zero(Traced(2.0), tape.input(0.0)), x = moved(4.0, 1.0);
    for (const Recorded& sum : {zero + x, x + zero}) CHECK(sum.tangent().value().error() == 1.0);
    const Recorded triple = factor(3.0) * zero;
    CHECK(triple.tangent().value().error() == 0.0);
    const Tape::Seed seed{triple.tangent().node(), 1.0};
    CHECK(tape.gradients({&seed, 1})[0] == 3.0);
    CHECK((Moving(3.0) * Moving(Dual(2.0, 1.0), Dual(0.0, 5.0))).tangent().tangent() == 15.0);
    const Recorded still(tape.input(2.0)), moving(tape.input(2.0), tape.input(1.0));
    const auto operations = [&](const auto& of) {
        const std::size_t before = tape.size();
        of();
        return tape.size() - before;
    };
    // One is the value's; of a product one is its tangent's.
    CHECK(operations([&] { return moving + 1.0; }) == 1);
    CHECK(operations([&] { return 1.0 + moving; }) == 1);
    CHECK(operations([&] { return 3.0 * moving; }) == 2);
    CHECK(operations([&] { return 3.0 / still; }) == 1);
    CHECK(operations([&] { return sqrt(still); }) == 1);
}

TEST_CASE(
    "any formula may lose eight roundings of a slope, or of one, where its function meets one") {
    const auto error_at = [](double x, const Rounding& arithmetic) {
        const ScopedRounding rounding(arithmetic);
        Tape tape;
        return expm1(Recorded(Traced(x), Traced(0x1p-9))).tangent().value().error() * 0x1p+9;
    };
    for (const double x : {-3.0, 3.0}) {
        const double more = error_at(x, Rounding().by_any_formula()) - error_at(x, Rounding());
        CHECK(more == doctest::Approx(Rounding().gamma(8.0) * std::max(1.0, std::exp(x)))
                          .epsilon(1e-5)
                          .scale(0.0));
    }
}

TEST_CASE("the larger number's tangent is taken, unless their errors or a tie leave it open") {
    const auto at = [](double value, double error, const Traced& tangent) {
        return Recorded(Traced(Bounded::within(value, error), Tape::constant), tangent);
    };
    CHECK(max(at(-1.0, 0.0, 3.0), at(-2.0, 0.0, 7.0)).tangent().value().value() == 3.0);
    CHECK(max(at(1.0, 0.5, 3.0), at(0.0, 0.25, 7.0)).tangent().value().value() == 3.0);
    CHECK(max(at(1.0, 0.5, 3.0), at(0.0, 0.75, 7.0)).tangent().value().value() == 5.0);
    CHECK(max(at(1.0, 0.0, 3.0), at(1.0, 0.0, 3.0)).tangent().value().error() == 0.0);
    // Between 1/2 and nothing, in fine arithmetic.
    CHECK(max(at(1.0, 0.0, 0.5), at(1.0, 0.0, 0.0)).tangent().value().error() ==
          doctest::Approx(0.25).epsilon(1e-6));
    const ScopedRounding rounding(coarse);
    Tape tape;
    const Traced ta = tape.input(4.0), tb = tape.input(-1.0), tc = tape.input(4.0);
    // Each path has half of its slope, give or take half: M = 5, E = 2.5, a rounding and a sum.
    const Recorded larger = max(at(1.0, 0.0, ta), at(1.0, 0.0, tb));
    CHECK(larger.tangent().value().error() == doctest::Approx(2.5 * 2 + 7.5 + 2 * 0.5));
    for (const Recorded& tie : {larger, max(at(1.0, 0.0, tb), at(1.0, 0.0, ta)),
                                max(at(1.0, 0.0, ta), at(1.0, 0.0, tc))}) {
        const Tape::Seed seed{tie.tangent().node(), 1.0};
        const Bounded by_ta = tape.bounded_gradients({&seed, 1})[0];
        CHECK(by_ta.value() == 0.5);
        CHECK(by_ta.error() == doctest::Approx(1.0 * 4 / 3 + 2.0 / 3 + 0.5));
    }
    // Dual numbers move: what moves alike stays equal, and the first is as good where both agree.
    const auto of_dual = [](const Dual& a, const Dual& ta_, const Dual& b, const Dual& tb_) {
        const Dual tangent = max(Moving(a, ta_), Moving(b, tb_)).tangent();
        return std::pair(tangent.value(), tangent.tangent());
    };
    const Dual one(1.0, 1.0), two(2.0, 1.0);
    CHECK(of_dual(one, 3.0, two, 5.0) == std::pair(5.0, 0.0));
    CHECK(of_dual(one, Dual(3.0, 1.0), one, Dual(3.0, 2.0)) == std::pair(3.0, 1.0));
    CHECK(std::isnan(of_dual(one, 3.0, one, 5.0).first));
}
