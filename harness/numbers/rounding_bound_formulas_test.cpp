// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "harness/numbers/rounding_bound.hpp"

namespace gradverify {

namespace {

constexpr double u = 0x1p-24;

// Every part of a formula shows here: gamma(1) = 1/3, gamma(2) = 1, gamma(3) = 3, gamma(4) = inf.
const Rounding coarse{.unit_roundoff = 0.25, .smallest_normal = 0.5};

Bounded made(double value, double error, double additions = 0.0) {
    return Bounded(Bounded::Sum{value, error, std::abs(value), additions});
}

void check(const Bounded& got, double value, double error, double magnitude, double additions) {
    CHECK(got.value() == value);
    CHECK(got.error() == doctest::Approx(error).epsilon(1e-12));
    CHECK(got.magnitude() == doctest::Approx(magnitude).epsilon(1e-12));
    CHECK(got.additions() == additions);
}

}  // namespace

TEST_CASE("gamma is m u / (1 - m u), and infinite from m u = 1 on") {
    CHECK(coarse.gamma(0.0) == 0.0);
    CHECK(coarse.gamma(2.0) == 1.0);
    CHECK(coarse.gamma(3.0) == 3.0);
    CHECK(std::isinf(coarse.gamma(4.0)));
    CHECK(std::isinf(coarse.gamma(5.0)));
}

TEST_CASE("a sum's bound has the terms' errors, gamma of the magnitudes, and underflows") {
    const ScopedRounding rounding(coarse);
    const Bounded a = made(4.0, 1.0), b = made(-2.0, 3.0, 1.0);
    const double error = 4.0 * (1.0 + 1.0) + 1.0 * 6.0 + 2 * 0.5;
    for (const Bounded& sum : {a + b, a - -b, b + a}) check(sum, 2.0, error, 6.0, 2.0);
    Bounded subtracted = a;
    subtracted -= b;
    for (const Bounded& difference : {a - b, subtracted}) check(difference, 6.0, error, 6.0, 2.0);
    check(-b, 2.0, b.error(), 2.0, 1.0);
    CHECK(Bounded(-3.0).magnitude() == 3.0);
    CHECK(Bounded().value() == 0.0);
}

TEST_CASE("a zero with an error is not exact, and counts as a term in either place") {
    const ScopedRounding rounding(coarse);
    const Bounded zero = made(0.0, 1.0);
    for (const Bounded& sum : {zero + Bounded(3.0), Bounded(3.0) + zero})
        check(sum, 3.0, 4.0 / 3 + 3.0 / 3 + 0.5, 3.0, 1.0);
    // Terms that cancel are not exact either.
    const Bounded cancelled = Bounded(1.0) + Bounded(-1.0);
    CHECK((cancelled + Bounded(3.0)).additions() == 2.0);
}

TEST_CASE("a product's bound is first-order propagation, both errors' product, and a rounding") {
    const ScopedRounding rounding(coarse);
    const double propagated = 3.0 * 2.0 + 5.0 * 1.0 + 2.0, reach = 15.0 + propagated;
    Bounded assigned = made(3.0, 1.0);
    assigned *= made(-5.0, 2.0);
    for (const Bounded& product : {made(3.0, 1.0) * made(-5.0, 2.0), assigned})
        check(product, -15.0, propagated + reach / 3 + 0.5, reach, 0.0);
    CHECK((made(-3.0, 1.0) * made(5.0, 2.0)).error() ==
          doctest::Approx(propagated + reach / 3 + 0.5));
    // A long sum is a factor of its value and its error.
    const double whole = 3.0 * 1.0 + 3 * 0.5, rounded = whole + (1.0 + whole) / 3 + 0.5;
    CHECK((made(1.0, 0.0, 3.0) * Bounded(1.0)).error() ==
          doctest::Approx(2.0 * rounded + 1.0 + whole + 2 * 0.5));
    CHECK((made(0.0, 1.0) * Bounded(2.0)).error() == doctest::Approx(2.0 + 2.0 / 3 + 0.5));
    const Bounded nothing = Bounded(0.0) * Bounded(2.0);
    CHECK(nothing.error() == 0.0);
    CHECK((nothing + Bounded(1.0)).additions() == 0.0);
    CHECK((Bounded(1.0) + nothing).additions() == 0.0);
}

TEST_CASE("a sum's factor and divisor may be given to each of its terms") {
    const ScopedRounding rounding(coarse);
    // 5 - 3 = 2, of magnitude 8, with one addition.
    const Bounded sum = made(5.0, 0.0) - made(3.0, 0.0);
    for (const Bounded& product : {sum * Bounded(4.0), Bounded(-4.0) * sum}) {
        CHECK(product.magnitude() == doctest::Approx(4.0 * 8.0));
        // It goes on as a sum of one addition, whose terms have each been rounded once.
        CHECK(product.additions() == 1.0);
        const double once = 32.0 / 3 + 0.5;
        CHECK(product.error() == doctest::Approx(once * (1.0 + 1.0 / 3) + 32.0 / 3 + 0.5));
        CHECK((product + Bounded(1.0)).additions() == 2.0);
    }
    const Bounded quotient = sum / Bounded(-4.0);
    CHECK(quotient.magnitude() == doctest::Approx(2.0));
    CHECK(quotient.additions() == 1.0);
    // Its terms are still known: a second factor goes to each as well.
    CHECK((quotient * Bounded(2.0)).magnitude() >= 4.0);
    CHECK((sum * Bounded(0.0)).error() == 0.0);
    // So are terms that come to nothing.
    CHECK(((made(5.0, 0.0) - made(5.0, 0.0)) * Bounded(4.0)).error() > 0.0);
}

TEST_CASE("of two factors the one with more terms is the sum, and the first of two alike") {
    const ScopedRounding rounding(coarse);
    const Bounded one = Bounded(4.0), difference = made(5.0, 0.0) - made(3.0, 0.0);
    // Sums in which nothing cancels, of two numbers and of three.
    const Bounded two = made(1.0, 0.0) + made(2.0, 0.0), three = two + made(4.0, 0.0);
    for (const Bounded& product : {one * three, three * one, two * three, three * two})
        CHECK(product.additions() == 2.0);
    for (const Bounded& product : {three * difference, difference * three})
        CHECK(product.magnitude() == doctest::Approx(7.0 * 8.0 + 2.0 * three.error()));
    const Bounded four = made(3.0, 0.0) + made(1.0, 0.0);
    CHECK((two * four).magnitude() == doctest::Approx(3.0 * 4.0 + 3.0 * four.error()));
    CHECK((four * two).magnitude() == doctest::Approx(3.0 * 4.0 + 4.0 * two.error()));
    // A product's error is no term that cancels.
    const Bounded rounded = made(3.0, 1.0) * made(5.0, 2.0);
    CHECK((difference * rounded).magnitude() ==
          doctest::Approx(8.0 * 15.0 + 2.0 * rounded.error()));
}

TEST_CASE("a sum of three goes on as one: its additions' roundings are not counted twice") {
    const ScopedRounding rounding(coarse);
    const double once = 8.0 / 3 + 0.5;
    CHECK((made(2.0, 0.0, 2.0) * Bounded(4.0)).error() ==
          doctest::Approx(once * (1.0 + 1.0) + 8.0 + 2 * 0.5));
    // The product of two sums is rounded once.
    const Bounded difference = made(5.0, 0.0) - made(3.0, 0.0);
    const double e = difference.error(), reach = 4.0 + 4.0 * e + e * e;
    CHECK((difference * difference).error() == doctest::Approx(4.0 * e + e * e + reach / 3 + 0.5));
    CHECK((difference * difference).additions() == 0.0);
}

TEST_CASE("a result reaches as far as its size and what it was off by before, on either side") {
    const ScopedRounding rounding(coarse);
    for (const double value : {2.0, -2.0})
        check(Bounded::after_operation(value, 1.0), value, 1.0 + 3.0 / 3 + 0.5, 3.0, 0.0);
}

TEST_CASE("tensor cores cut a sum's terms and what they are off by, or a long sum whole") {
    Rounding cutting = coarse;
    cutting.factor_truncation = 0.25;
    const ScopedRounding rounding(cutting);
    for (const double additions : {0.0, 2.0, 3.0}) {
        const Bounded sum(Bounded::Sum{2.0, 1.0, 8.0, additions});
        const double reach = additions == 3.0 ? 2.0 : 8.0;
        const Bounded cut(Bounded::Sum{2.0, 1.0 + 0.25 * (reach + sum.error()), 8.0, additions});
        check(sum.as_factor(), 2.0, cut.error(), 8.0, additions);
    }
}

TEST_CASE("a long sum is multiplied whole, or in a few parts") {
    const ScopedRounding rounding(Rounding::of(DType::f32));
    const Bounded sum(Bounded::Sum{2.0, 0.0, 8.0, 5.0});
    const Bounded product = sum * Bounded(4.0);
    CHECK(product.magnitude() == doctest::Approx(32.0));
    CHECK(product.additions() == 2.0);
    CHECK(product.error() == doctest::Approx(u * (4.0 * 5.0 * 8.0 + 32.0 + 2.0 * 32.0)));
}

TEST_CASE("a quotient's bound divides by the smallest divisor that there may be") {
    const ScopedRounding rounding(coarse);
    const double propagated = (1.0 + 3.0 * 0.5) / 1.5, reach = 3.0 + propagated;
    for (const double sign : {1.0, -1.0})
        check(made(6.0 * sign, 1.0) / made(-2.0, 0.5), -3.0 * sign,
              propagated + 3.0 * reach + 3 * 0.5, reach, 0.0);
    const Bounded lost = made(-6.0, 0.0) / made(2.0, 2.0);
    CHECK(std::isinf(lost.error()));
    CHECK(lost.value() == -3.0);
    CHECK(lost.magnitude() == 3.0);
    CHECK(lost.additions() == 0.0);
    CHECK((Bounded(0.0) / Bounded(2.0)).error() == 0.0);
}

TEST_CASE("the rounding in force decides the bound, and the scope restores it") {
    {
        const ScopedRounding rounding(Rounding::of(DType::f64));
        CHECK((Bounded(1.0) * Bounded(1.0)).error() < 0x1p-52);
        const ScopedRounding inner(coarse);
        CHECK((Bounded(1.0) * Bounded(1.0)).error() > 0.5);
    }
    const double product = (Bounded(1.0) * Bounded(1.0)).error();
    CHECK(product >= 0x1p-24);
    CHECK(product < 0x1.001p-24);
}

}  // namespace gradverify
