// SPDX-License-Identifier: Apache-2.0
// The table's errors of CUDA's implementations, and how far an argument's error takes a function.
#include "harness/numbers/autodiff/functions.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "harness/numbers/autodiff/dual.hpp"
#include "harness/numbers/bounded_functions.hpp"

namespace {

using namespace gradverify;

constexpr auto off = &Bounded::within;

/// The error of a result whose function is off by `ulps` of it, and absolutely.
doctest::Approx error_of(double value, double ulps, double propagated) {
    const Bounded result = Bounded::after_operation(value, propagated, 2.0 * ulps + 1.0);
    return doctest::Approx(result.error()).epsilon(1e-6).scale(0.0);
}

/// A function at an exact argument, its own error by the CUDA C++ Programming Guide, and what
/// another formula for it may be off by beside.
struct Entry {
    const char* name;
    Bounded (*function)(const Bounded&);
    double at, ulps, fast_ulps, fast_absolute = 0.0, elsewhere = 0.0;
};

/// How far an exponential goes when its argument is rounded twice.
double of_another_base(double (*function)(double), double at) {
    const double error = current_rounding.gamma(2.0) * std::abs(at);
    return function(at + error) - function(at);
}

}  // namespace

TEST_CASE("each function's own error is that of CUDA's tables, accurate and fast") {
    const double absolute = 0x1p-21;
    const std::vector<Entry> table{
        {"sqrt", sqrt, 2.0, 1.0, 3.0},
        {"rsqrt", rsqrt, 2.0, 2.0, 2.0},
        {"cbrt", cbrt, 2.0, 1.0, 1.0},
        {"exp", exp, 8.0, 1.0, 2.0 + 9.0, 0.0, of_another_base(std::exp, 8.0)},
        {"exp", exp, -8.0, 1.0, 2.0 + 9.0, 0.0, of_another_base(std::exp, -8.0)},
        {"exp2", exp2, 2.5, 2.0, 2.0 + 2.0, 0.0, of_another_base(std::exp2, 2.5)},
        {"exp2", exp2, -2.5, 2.0, 2.0 + 2.0, 0.0, of_another_base(std::exp2, -2.5)},
        {"expm1", expm1, 0.5, 1.0, 1.0},
        {"log", log, 3.0, 2.0, 3.0, absolute},
        {"log2", log2, 3.0, 2.0, 2.0, absolute},
        {"log1p", log1p, 0.5, 1.0, 1.0},
        {"sin", sin, 0.5, 2.0, 2.0, absolute},
        {"sin", sin, -4.0, 2.0, 2.0, 4.0 * absolute},
        {"cos", cos, 0.5, 2.0, 2.0, absolute},
        {"cos", cos, -4.0, 2.0, 2.0, 4.0 * absolute},
        {"sinh", sinh, 0.5, 3.0, 3.0},
        {"cosh", cosh, 0.5, 2.0, 2.0},
        {"tanh", tanh, 0.5, 2.0, 0x1.02p+13, 0.0, current_rounding.gamma(4.0)},
        {"sigmoid", sigmoid, 0.5, 4.0, 6.0, 0x1.02p-12,
         of_another_base(sigmoid, 0.5) + current_rounding.gamma(4.0)},
        {"sigmoid", sigmoid, -8.0, 4.0, 6.0 + 9.0, 0x1.02p-12,
         of_another_base(sigmoid, -8.0) + current_rounding.gamma(4.0)},
        {"softplus", softplus, 2.0, 4.0, 6.0 + 2.0, absolute, of_another_base(softplus, 2.0)},
        {"softplus", softplus, -8.0, 4.0, 6.0 + 9.0, absolute, of_another_base(softplus, -8.0)},
        {"log_sigmoid", log_sigmoid, 8.0, 4.0, 6.0 + 9.0, absolute,
         of_another_base(softplus, -8.0)},
        {"atan", atan, 0.5, 2.0, 2.0},
        {"erf", erf, 0.5, 2.0, 2.0},
        {"erfc", erfc, 0.5, 4.0, 4.0},
    };
    for (const Entry& entry : table) {
        CAPTURE(entry.name);
        const Bounded accurate = entry.function(Bounded(entry.at));
        CHECK(accurate.additions() == 0.0);
        CHECK(accurate.error() == error_of(accurate.value(), entry.ulps, entry.elsewhere));
        const ScopedRounding rounding(Rounding::of(DType::f32, true));
        const Bounded fast = entry.function(Bounded(entry.at));
        CHECK(fast.error() ==
              error_of(fast.value(), entry.fast_ulps, entry.elsewhere + entry.fast_absolute));
    }
}

TEST_CASE("a power's own error grows with its logarithm where it is fast") {
    for (const auto& power : {std::pair(0.25, 1.5), std::pair(0.25, -1.5), std::pair(-2.0, 3.0)}) {
        const double x = power.first, y = power.second;
        INFO(x, " to the power of ", y);
        const double value = std::pow(x, y);
        CHECK(pow(Bounded(x), Bounded(y)).error() == error_of(value, 4.0, 0.0));
        const ScopedRounding rounding(Rounding::of(DType::f32, true));
        CHECK(pow(Bounded(x), Bounded(y)).error() ==
              error_of(value, 4.0 + 3.0 * 3.0, 0x1p-21 * std::abs(y * value)));
    }
}

TEST_CASE("an argument's error takes a function as far as its farther end") {
    struct Argument {
        Bounded (*function)(const Bounded&);
        double at, error, ulps, farthest;
    };
    const std::vector<Argument> table{
        {log, 0.5, 0.25, 2.0, std::abs(std::log(0.25) - std::log(0.5))},
        {expm1, 0.5, 0.25, 1.0, std::abs(std::expm1(0.75) - std::expm1(0.5))},
        {cosh, 0.0, 0.5, 2.0, std::cosh(0.5) - 1.0},
        {sin, 0.5, 0.25, 2.0, 0.25},
        {sin, 0.5, 5.0, 2.0, 2.0},
        {cos, 0.5, 0.25, 2.0, 0.25},
        {cos, 0.5, 5.0, 2.0, 2.0},
    };
    for (const Argument& x : table) {
        const Bounded result = x.function(off(x.at, x.error));
        CHECK(result.error() == error_of(result.value(), x.ulps, x.farthest));
    }
    // However little a tanh is off by where it is zero, another formula for it adds the most.
    CHECK(tanh(off(0.0, 1e-6)).error() ==
          error_of(0.0, 2.0, std::tanh(1e-6) + current_rounding.gamma(4.0)));
    CHECK(sin(Bounded(0.0)).error() == 0.0);
    CHECK(tanh(Bounded(0.0)).error() == 0.0);
    CHECK(std::isnan(log(Bounded(-1.0)).value()));
    CHECK(log(Bounded(-1.0)).error() == INFINITY);
    CHECK(log(off(0.1, 0.2)).error() == INFINITY);
    CHECK(log(Bounded(-1.0)).magnitude() == 0.0);
    CHECK(log(Bounded(-1.0)).additions() == 0.0);
}

TEST_CASE("the errors of a base and an exponent take a power as far as its farthest corner") {
    // Base and exponent such that each corner is the farthest once.
    for (const auto& power :
         {std::pair(2.0, 2.0), std::pair(0.5, 2.0), std::pair(2.0, -2.0), std::pair(0.5, -2.0)}) {
        const double x = power.first, y = power.second;
        const double dx = 0.25, dy = 0.5, value = std::pow(x, y);
        double farthest = 0.0;
        for (const double base : {x - dx, x + dx})
            for (const double exponent : {y - dy, y + dy})
                farthest = std::max(farthest, std::abs(std::pow(base, exponent) - value));
        INFO(x, " to the power of ", y);
        CHECK(pow(off(x, dx), off(y, dy)).error() == error_of(value, 4.0, farthest));
    }
    // Where the power grows less and less, it falls farther than it rises.
    CHECK(pow(off(2.0, 1.0), Bounded(0.5)).error() ==
          error_of(std::sqrt(2.0), 4.0, std::sqrt(2.0) - 1.0));
    // A base that may be zero has no bound where it divides, and has one elsewhere.
    CHECK(pow(off(0.5, 1.0), Bounded(-2.0)).error() == INFINITY);
    CHECK(pow(off(-0.5, 1.0), Bounded(-2.0)).error() == INFINITY);
    CHECK(pow(off(0.5, 1.0), off(-2.0, 1.0)).error() == INFINITY);
    CHECK(std::isfinite(pow(off(-0.5, 0.25), Bounded(-2.0)).error()));
    CHECK(std::isfinite(pow(off(0.5, 1.0), Bounded(2.0)).error()));
    CHECK(std::isfinite(pow(off(0.5, 1.0), Bounded(0.0)).error()));
    // Nor has one that may be negative, to a power that is not whole.
    CHECK(pow(off(0.5, 1.0), Bounded(1.5)).error() == INFINITY);
}

TEST_CASE("bounded values are compared by value, and what their errors could turn is noted") {
    // The first two overlap, and errors that just meet may turn a comparison, too.
    const std::vector<Bounded> numbers{off(1.0, 0.25), off(1.25, 0.25), off(1.5, 0.25),
                                       off(3.0, 0.25)};
    for (std::size_t i = 0; i < numbers.size(); ++i)
        for (std::size_t j = 0; j < numbers.size(); ++j) {
            const Bounded &a = numbers[i], &b = numbers[j];
            INFO(i, " and ", j);
            const ScopedDecisions decisions;
            CHECK((a < b) == (i < j));
            CHECK((a > b) == (i > j));
            CHECK((a <= b) == (i <= j));
            CHECK((a >= b) == (i >= j));
            CHECK((a == b) == (i == j));
            CHECK(decisions.made().undecided == ((i < 3) == (j < 3) ? 5 : 0));
            CHECK(decisions.made().ties == 0);
        }
}

TEST_CASE(
    "a choice of two bounded values is off by its own error where it is decided, else by the "
    "larger") {
    const auto check = [](const Bounded& got, double value, double error) {
        CHECK(got.value() == value);
        CHECK(got.error() == error);
        CHECK(got.magnitude() == std::abs(value));
        CHECK(got.additions() == 0.0);
    };
    const Bounded less = off(-3.0, 0.25), more = off(-1.0, 0.5);
    check(max(less, more), -1.0, 0.5);
    check(max(more, less), -1.0, 0.5);
    check(min(less, more), -3.0, 0.25);
    check(min(more, less), -3.0, 0.25);
    check(max(off(-1.5, 0.75), more), -1.0, 0.75);
    check(min(off(-1.5, 0.25), more), -1.5, 0.5);
    // Where the errors just meet, either may be the larger one.
    check(max(off(-1.75, 0.5), off(-1.0, 0.25)), -1.0, 0.5);
    check(max(off(-1.0, 0.25), off(-1.75, 0.5)), -1.0, 0.5);
    check(abs(less), 3.0, 0.25);
    check(abs(off(3.0, 0.25)), 3.0, 0.25);
}

TEST_CASE("a step function's value may be that of both sides of a jump that rounding reaches") {
    const auto check = [](const Bounded& got, double value, double error) {
        CHECK(got.value() == value);
        CHECK(got.error() == error);
    };
    check(floor(off(2.5, 0.25)), 2.0, 0.0);
    check(floor(off(2.25, 0.5)), 2.0, 1.0);
    check(floor(Bounded(3.0)), 3.0, 0.0);
    check(ceil(off(2.75, 0.5)), 3.0, 1.0);
    check(trunc(Bounded(-2.5)), -2.0, 0.0);
    check(round(off(2.5, 0.125)), 3.0, 1.0);
    check(rint(Bounded(2.5)), 2.0, 0.0);
}

TEST_CASE("at a jump a number that moves takes the side's value, and its branch; it has no slope") {
    struct Seen {
        double value;
        std::uint64_t trace;
        std::int64_t ties;
    };
    const auto at = [](double x, double tangent) {
        const ScopedDecisions decisions;
        const Dual floored = floor(Dual(x, tangent));
        CHECK(floored.tangent() == 0.0);
        return Seen{floored.value(), decisions.made().trace, decisions.made().ties};
    };
    const Seen still = at(3.0, 0.0), up = at(3.0, 1.0), down = at(3.0, -1.0), above = at(3.5, -1.0),
               below = at(2.5, 1.0);
    CHECK(still.value == 3.0);
    CHECK(up.value == 3.0);
    CHECK(down.value == 2.0);
    CHECK(up.trace == above.trace);
    CHECK(down.trace == below.trace);
    CHECK(up.trace != down.trace);
    CHECK(still.ties == 0);
    CHECK(up.ties == 1);
    CHECK(above.ties == 0);
    CHECK(ceil(Dual(3.0, 0.0)).value() == 3.0);
    CHECK(ceil(Dual(3.0, 1.0)).value() == 4.0);
}

TEST_CASE("doubles have the functions that the standard library lacks") {
    CHECK(rsqrt(4.0) == 0.5);
    CHECK(sigmoid(0.0) == 0.5);
    CHECK(sigmoid(std::log(3.0)) == doctest::Approx(0.75));
    CHECK(sigmoid(-std::log(3.0)) == doctest::Approx(0.25));
    CHECK(softplus(0.0) == std::log(2.0));
    CHECK(softplus(-50.0) == doctest::Approx(std::exp(-50.0)).epsilon(1e-15).scale(0.0));
    CHECK(softplus(800.0) == 800.0);
    CHECK(log_sigmoid(-800.0) == -800.0);
    CHECK(log_sigmoid(50.0) == -softplus(-50.0));
    CHECK(max(1.0, 2.0) + max(2.0, 1.0) == 4.0);
    CHECK(min(1.0, 2.0) + min(2.0, 1.0) == 2.0);
    // Equal numbers give the first, as the scalars' own do.
    CHECK_FALSE(std::signbit(max(0.0, -0.0)));
    CHECK_FALSE(std::signbit(min(0.0, -0.0)));
}

TEST_CASE(
    "softplus and log_sigmoid have one bound on both sides of zero, and sigmoids for slopes") {
    for (const double x : {-40.0, -1e-6, 0.0, 1e-6, 40.0}) {
        CAPTURE(x);
        CHECK(softplus(Bounded(x)).error() < 16.0 * 0x1p-24 * softplus(std::abs(x)));
        const Dual slope = softplus(Dual(x, 1.0)), of_log = log_sigmoid(Dual(x, 1.0));
        CHECK(slope.tangent() == sigmoid(x));
        CHECK(of_log.tangent() == sigmoid(-x));
    }
}

TEST_CASE("the sigmoid's derivative may be y (1 - y), of a y that was rounded") {
    CHECK(sigmoid(-800.0) == 0.0);
    CHECK(sigmoid(800.0) == 1.0);
    for (const double x : {-12.0, -1.0, 0.0, 3.0, 6.3282, 14.0, 40.0}) {
        CAPTURE(x);
        const auto y = static_cast<float>(sigmoid(x));
        const Bounded exact = functions::Sigmoid::derivative(Bounded(x), sigmoid(Bounded(x)));
        CHECK(std::abs(static_cast<double>(y * (1.0f - y)) - exact.value()) <= exact.error());
        CHECK(exact.error() < 2e-6);
    }
}
