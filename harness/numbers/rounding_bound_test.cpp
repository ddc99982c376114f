// SPDX-License-Identifier: Apache-2.0
// Bounds by their formulas, against floats, at the ends of each type's range, and on tensor cores.
#include "harness/numbers/bounded_functions.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "harness/base/random.hpp"
#include "harness/numbers/element_bits.hpp"
#include "harness/numbers/matrix_product.hpp"

namespace {

using namespace gradverify;

constexpr double u = 0x1p-24;

float random_float(SplitMix64& random) {
    const auto mantissa = static_cast<float>(random.between(1 << 23, (1 << 24) - 1));
    const float value = std::ldexp(mantissa, -24 + static_cast<int>(random.between(-3, 3)));
    return random.one_in(2) ? value : -value;
}

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

/// How far off, as a share of its bound, the product of two floats is that tensor cores sum, with
/// cut sums, from pieces of so many digits: those whose numbers add up to less than `pieces`.
double share_of_bound(float a, float b, int pieces, int digits_of_piece, int digits) {
    const auto cut = [](double value, int to) {
        if (value == 0.0) return 0.0;
        const double unit = std::ldexp(1.0, std::ilogb(value) + 1 - to);
        return std::trunc(value / unit) * unit;
    };
    const auto piece = [&](double value, int number) {
        for (int i = 0; i < number; ++i) value -= cut(value, digits_of_piece);
        return cut(value, digits_of_piece);
    };
    double sum = 0.0;
    int products = 0;
    for (int order = 0; order < pieces; ++order)
        for (int i = 0; i <= order; ++i, ++products)
            sum = cut(sum + piece(a, i) * piece(b, order - i), 24);
    const ScopedRounding scope(Rounding::of(DType::f32).in_pieces(products, digits));
    const double exact = static_cast<double>(a) * static_cast<double>(b);
    return std::abs(sum - exact) / (Bounded(a) * Bounded(b)).error();
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
    cutting.factor_unit = 0.125;
    const ScopedRounding rounding(cutting);
    for (const double additions : {0.0, 2.0, 3.0}) {
        const Bounded sum(Bounded::Sum{2.0, 1.0, 8.0, additions});
        const double reach = additions == 3.0 ? 2.0 : 8.0;
        const Bounded cut(Bounded::Sum{2.0, 1.0 + 0.25 * (reach + sum.error()), 8.0, additions});
        check(sum.as_factor(), 2.0, cut.error(), 8.0, additions);
    }
    // Only pieces may be infinite where the factor is not.
    cutting.largest = 4.0;
    const ScopedRounding short_of_range(cutting);
    CHECK(made(6.0, 1.0).as_factor().error() == 1.0 + 0.25 * 7.0);
}

TEST_CASE("a long sum is multiplied whole, or in a few parts") {
    const ScopedRounding rounding(Rounding::of(DType::f32));
    const Bounded sum(Bounded::Sum{2.0, 0.0, 8.0, 5.0});
    const Bounded product = sum * Bounded(4.0);
    CHECK(product.magnitude() == doctest::Approx(32.0));
    CHECK(product.additions() == 2.0);
    CHECK(product.error() == doctest::Approx(u * (4.0 * 5.0 * 8.0 + 32.0 + 2.0 * 32.0)).scale(0.0));
}

TEST_CASE("a step of a recurrence keeps all its terms, whichever of them comes first") {
    const ScopedRounding rounding(coarse);
    // Three numbers, of one product each, and one more: M = 6 with three additions.
    const Bounded product = made(2.0, 0.0, 2.0) * Bounded(1.0);
    const double once = 2.0 / 3 + 0.5, off = 2.0 * (once * 4.0 + 3.0 * 6.0 + 3 * 0.5);
    for (const Bounded& step : {product + Bounded(4.0), Bounded(4.0) + product}) {
        const Bounded next = step * Bounded(2.0);
        CHECK(next.additions() == 3.0);
        check(next, 12.0, (off + (12.0 + off) / 3 + 0.5) * 4.0 + 3.0 * (12.0 + off) + 3 * 0.5,
              12.0 + off, 3.0);
    }
    // The product of two sums that come to nothing has their errors alone.
    const Bounded nothing = made(1.0, 0.0) - made(1.0, 0.0);
    const double both = nothing.error() * nothing.error();
    CHECK((nothing * nothing).error() == doctest::Approx(both + both / 3 + 0.5));
}

TEST_CASE("a number without a bound may be infinite where it, a term or an operand may be") {
    const Bounded open = Bounded::unbounded(2.0, true), closed = Bounded::unbounded(2.0, false);
    for (const Bounded& result : {open * Bounded(3.0), Bounded(3.0) * open, open / Bounded(3.0),
                                  exp(open), log(Bounded(-1.0))})
        CHECK(result.may_be_infinite());
    for (const Bounded& result : {closed * Bounded(3.0), Bounded(3.0) * closed,
                                  closed / Bounded(3.0), exp(closed), tanh(open)})
        CHECK_FALSE(result.may_be_infinite());
    CHECK(std::isfinite(tanh(open).error()));
    // A divisor may be zero, or of either sign.
    for (const double error : {2.0, 3.0})
        CHECK(std::isinf((made(-6.0, 0.0) / made(2.0, error)).error()));
    // So are two sums of which one has such a term.
    const Bounded difference = made(5.0, 0.0) - made(3.0, 0.0);
    const Bounded sum(Bounded::Sum{2.0, 0.0, INFINITY, 1.0});
    CHECK((sum * difference).may_be_infinite());
    CHECK((difference * sum).may_be_infinite());
}

TEST_CASE("a stored number may be infinite from half of its type's largest on, or with its error") {
    const auto may_be_infinite = [](const Bounded& number) {
        const Bounded stored = number.stored_in(DType::f16);
        CHECK(std::isinf(stored.error()));
        return stored.may_be_infinite();
    };
    CHECK(may_be_infinite(Bounded::within(20000.0, 60000.0)));
    CHECK(may_be_infinite(Bounded::unbounded(1.0, true)));
    for (const double sign : {-1.0, 1.0}) {
        CHECK(may_be_infinite(Bounded::unbounded(sign * 40000.0, false)));
        CHECK_FALSE(may_be_infinite(Bounded::unbounded(sign * 32752.0, false)));
        CHECK_FALSE(may_be_infinite(Bounded::unbounded(sign * 20000.0, false)));
    }
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

TEST_CASE("every order of a float sum of products stays within the bound") {
    SplitMix64 random(1);
    for (int round = 0; round < 200; ++round) {
        const auto count = static_cast<std::size_t>(random.between(1, 200));
        std::vector<float> a(count), b(count);
        for (std::size_t i = 0; i < count; ++i) {
            a[i] = random_float(random);
            b[i] = random_float(random);
        }
        Bounded exact;
        for (std::size_t i = 0; i < count; ++i) exact += Bounded(a[i]) * Bounded(b[i]);
        std::vector<std::size_t> order(count);
        std::iota(order.begin(), order.end(), 0);
        for (int shuffle = 0; shuffle < 5; ++shuffle) {
            float plain = 0.0f, fused = 0.0f;
            for (const std::size_t i : order) {
                const float product = a[i] * b[i];
                plain += product;
                fused = std::fma(a[i], b[i], fused);
            }
            CHECK(std::abs(plain - exact.value()) <= exact.error());
            CHECK(std::abs(fused - exact.value()) <= exact.error());
            for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
        }
    }
}

TEST_CASE(
    "a constant that an arithmetic lacks is off by its rounding, one that it has by nothing") {
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
        const DTypeTraits traits = traits_of(dtype);
        const Rounding rounding = Rounding::of(dtype);
        SplitMix64 random(static_cast<std::uint64_t>(traits.exact_bits));
        for (int i = 0; i < 2000; ++i) {
            const double any = std::ldexp(random_float(random), static_cast<int>(i % 8) - 4);
            const double stored = rounded_to(dtype, any);
            CHECK(rounding.of_constant(stored) == 0.0);
            const double beside = stored * (1.0 + 0x1p-30);
            CHECK(rounding.of_constant(beside) >= std::abs(beside - stored));
            CHECK(rounding.of_constant(beside) <= 2.0 * traits.unit_roundoff * std::abs(beside));
        }
        CHECK(rounding.of_constant(0.0) == 0.0);
    }
    const Rounding half = Rounding::of(DType::f16);
    CHECK(half.of_constant(1.0 + 0x1p-12) > 0.0);
    CHECK(half.of_constant(0x1p-14) == 0.0);
    // Below the smallest normal number an arithmetic may have fewer digits than it has elsewhere.
    for (const double value : {1e-5, 0x1.8p-24})
        CHECK(half.of_constant(value) >= std::abs(rounded_to(DType::f16, value) - value));
    CHECK(Rounding::of(DType::f32).of_constant(0x1p-149) == 0.0);
    for (const double value : {0.1, 1e308})
        CHECK(Rounding::of(DType::f64).of_constant(value) == 0.0);
}

TEST_CASE("a stored result may be off by what it was before and by one rounding, not by more") {
    const auto stored = [](double value, double error, DType dtype) {
        return Bounded::within(value, error).stored_in(dtype);
    };
    CHECK(stored(3.0, 0.0, DType::bf16).error() == 0.0);
    CHECK(stored(3.0, 0.0, DType::bf16).value() == 3.0);
    CHECK(stored(-3.0, 0.0, DType::bf16).magnitude() == 3.0);
    CHECK(stored(1.0 + 0x1p-9, 0.0, DType::bf16).error() == 0x1p-9);
    CHECK(std::isinf(stored(70000.0, 1.0, DType::f16).error()));
    // An open sum is rounded as it was formed.
    const Bounded sum = Bounded(1.0f) + Bounded(0.3f);
    CHECK(sum.stored_in(DType::f64).error() == doctest::Approx(sum.error()));
    CHECK(sum.stored_in(DType::f16).error() > sum.error());
    CHECK(sum.stored_in(DType::f16).error() <= sum.error() + 0x1p-11);
}

TEST_CASE("up to the largest number there is a bound, and beyond it none") {
    const double largest = current_rounding.largest;
    CHECK(std::isfinite((Bounded(largest / 2) + Bounded(largest / 2)).error()));
    CHECK((Bounded(largest) + Bounded(largest)).error() == INFINITY);
    CHECK(std::isfinite((Bounded(largest) * Bounded(1.0)).error()));
    CHECK(current_rounding.may_overflow(2.0 * largest));
    // Integers of any size are exact.
    CHECK_FALSE(Rounding{.unit_roundoff = 0.0}.may_overflow(2.0 * largest));
    CHECK(Rounding{.unit_roundoff = 0.0}.may_overflow(INFINITY));
    const Bounded beyond = Bounded(largest) * Bounded(-2.0);
    CHECK(beyond.error() == INFINITY);
    CHECK(beyond.value() == -2.0 * largest);
    CHECK(beyond.additions() == 0.0);
}

TEST_CASE("fast division counts two roundings more, where it is asked for") {
    CHECK_FALSE(Rounding::of(DType::f32).is_fast);
    const ScopedRounding rounding(Rounding::of(DType::f32, true));
    const Bounded quotient = Bounded(1.0) / Bounded(3.0);
    CHECK(quotient.error() == doctest::Approx(5.0 * u / 3.0).epsilon(1e-5).scale(0.0));
}

TEST_CASE("data that are infinite or no number are copied exactly in every arithmetic") {
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
        const ScopedRounding rounding(Rounding::of(dtype));
        CHECK(Bounded(INFINITY).error() == 0.0);
        CHECK(Bounded(NAN).error() == 0.0);
        CHECK_FALSE((Bounded(NAN) + Bounded(1.0)).error() < 1.0);
        CHECK_FALSE((Bounded(INFINITY) + Bounded(1.0)).error() < 1.0);
    }
}

TEST_CASE("a number that is rounded by its name may lose that rounding, and others lose nothing") {
    const std::vector<std::pair<std::string, DType>> types{{"p", DType::bf16}, {"q", DType::f16}};
    Rounding named = Rounding::of(DType::f32);
    named.types_by_name = types;
    const ScopedRounding rounding(named);
    const Bounded middle(1.0 + 0x1p-8), exact(1.0 + 0x1p-7), computed = Bounded(1.0) * Bounded(1.0);
    CHECK(rounded_by_name("p", middle).error() == 0x1p-8 * middle.value());
    CHECK(rounded_by_name("p", -middle).error() == 0x1p-8 * middle.value());
    CHECK(rounded_by_name("p", exact).error() == 0.0);
    CHECK(rounded_by_name("p", Bounded(INFINITY)).error() == 0.0);
    CHECK(rounded_by_name("p", Bounded::within(NAN, 0.0)).error() == 0.0);
    CHECK(rounded_by_name("r", middle).error() == 0.0);
    // A kernel may have a multiple of it, whose digits are others.
    const double own = computed.error();
    CHECK(rounded_by_name("p", computed).error() == own + 0x1p-8 * (1.0 + own));
    // Small numbers are rounded to multiples of 2^-24, and the least to zero.
    CHECK(rounded_by_name("q", Bounded(0x1.8p-20 + 0x1p-30)).error() == 0x1p-25);
    CHECK(rounded_by_name("q", Bounded(0x1p-27)).error() == 0x1p-27);
    CHECK(rounded_by_name("q", Bounded(65536.0)).error() == INFINITY);
    // A sum stays one of as many terms.
    const Bounded sum = Bounded(3.0) + middle, rounded = rounded_by_name("p", sum);
    CHECK(rounded.additions() == 1.0);
    CHECK(rounded.magnitude() == sum.magnitude());
    CHECK(rounded.error() == doctest::Approx(sum.error() + 0x1p-8 * sum.value()).epsilon(1e-6));
}

TEST_CASE("a matrix product of bounded values equals the scalar sum of products") {
    const Rounding f32 = Rounding::of(DType::f32);
    for (const Rounding& rounding : {f32, f32.on_tensor_cores(true)}) {
        const ScopedRounding scope(rounding);
        SplitMix64 random(2);
        Matrix<Bounded> a(4, 7), b(7, 3);
        for (Eigen::Index i = 0; i < a.size(); ++i)
            a(i) = random.one_in(4) ? Bounded(0.0) : Bounded(random_float(random));
        for (Eigen::Index i = 0; i < b.size(); ++i) b(i) = Bounded(random_float(random));
        // One operand with an error of its own.
        a(0, 0) = Bounded(1.0) * Bounded(0.3f);
        const Matrix<Bounded> together = product(a, b);
        for (Eigen::Index row = 0; row < 4; ++row)
            for (Eigen::Index column = 0; column < 3; ++column) {
                Bounded sum;
                for (Eigen::Index l = 0; l < 7; ++l) sum += a(row, l) * b(l, column);
                CHECK(together(row, column).value() == doctest::Approx(sum.value()).epsilon(1e-14));
                CHECK(together(row, column).error() == doctest::Approx(sum.error()).epsilon(1e-6));
                CHECK(together(row, column).additions() == sum.additions());
            }
    }
}

TEST_CASE("tensor cores cut a sum at each addition: twice the unit, and products as before") {
    const auto error_of = [](const Rounding& rounding) {
        const ScopedRounding scope(rounding);
        Bounded sum;
        for (int i = 1; i <= 5; ++i) sum += Bounded(i);
        return sum.error();
    };
    const Rounding f32 = Rounding::of(DType::f32);
    const double cut = error_of(f32.on_tensor_cores(false));
    CHECK(cut >= 4 * 0x1p-23 * 15.0);
    CHECK(cut <= 4 * 0x1p-23 * 15.0 * 1.0001 + 4 * 0x1p-125);
    CHECK(error_of(f32.on_tensor_cores(true)) == cut);
    const ScopedRounding scope(f32.on_tensor_cores(false));
    CHECK((Bounded(0.1f) * Bounded(0.3f)).error() < 1.001 * u * 0.03f);
    // Data stays exact: only sums are cut.
    CHECK(Bounded(0x1.fffffep0).error() == 0.0);
}

TEST_CASE("factors in pieces are exact where one piece has them, and each product adds roundings") {
    const ScopedRounding scope(Rounding::of(DType::f32).in_pieces(3, 21));
    const Bounded whole(255.0), split(257.0);
    CHECK((whole * whole).error() < 1.001 * u * whole.value() * whole.value());
    const double of_split = 0x1p-21 + 3 * u;
    CHECK((whole * split).error() >= of_split * 255.0 * 257.0);
    CHECK((whole * split).error() <= 1.001 * (of_split + u) * 255.0 * 257.0);
    CHECK((split * split).error() >= 2 * of_split * 257.0 * 257.0);
    // An addition of three products may be cut off three times.
    CHECK((whole + whole).error() >= 3 * 0x1p-23 * 510.0);
    CHECK((whole + whole).error() <= 1.001 * 3 * 0x1p-23 * 510.0);
}

TEST_CASE("pieces may be too small, and their products too large, for numbers of their type") {
    const ScopedRounding scope(Rounding::of(DType::f32).in_pieces(6, 24));
    // Of the first factor the second piece may be flushed to zero, of the second all.
    const Bounded great(0x1p+100);
    for (const double tiny : {257.0 * 0x1p-134, 255.0 * 0x1p-134})
        CHECK((Bounded(tiny) * great).error() >= 0x1p-134 * great.value());
    CHECK((Bounded(255.0 * 0x1p-133) * great).error() < 0x1p-46);
    CHECK_FALSE(current_rounding.cuts(0.0));
    CHECK_FALSE(current_rounding.cuts(0x1p-126));
    // The greatest piece of a float may be infinite.
    CHECK(std::isinf((Bounded(0x1.ff8p+127) * Bounded(0x1p-20)).error()));
    CHECK((Bounded(0x1p+127) * Bounded(0x1p-20)).error() < 0x1p+84);
    // Both factors' greatest pieces are 1 + 2^-7, and their product is no float.
    const double factor = 1.0 + 0x1.1p-8, other = 0x1p+128 / (factor * factor) * 0.9999;
    CHECK(std::isinf((Bounded(factor) * Bounded(factor * other)).error()));
    CHECK(std::isfinite((Bounded(factor) * Bounded(0.97 * factor * other)).error()));
}

TEST_CASE("the bound of factors in pieces holds for pieces and sums that are cut, and is near") {
    double of_bf16 = 0.0, of_tf32 = 0.0;
    SplitMix64 random(1);
    for (int i = 0; i < 20000; ++i) {
        const float a = random_float(random), b = random_float(random);
        of_bf16 = std::max(of_bf16, share_of_bound(a, b, 3, 8, 24));
        of_tf32 = std::max(of_tf32, share_of_bound(a, b, 2, 11, 20));
    }
    CHECK(of_bf16 <= 1.0);
    CHECK(of_bf16 > 0.3);
    CHECK(of_tf32 <= 1.0);
    CHECK(of_tf32 > 0.3);
    // Two cut pieces of 11 digits, and no product of the lesser ones, do not keep 21.
    constexpr float worst = 1.0f + 0x1p-10f - 0x1p-23f;
    CHECK(share_of_bound(worst, worst, 2, 11, 21) > 1.0);
    CHECK(share_of_bound(worst, worst, 2, 11, 20) <= 1.0);
}

TEST_CASE("a factor of more digits than tf32 may be off by its last one, and others are exact") {
    const ScopedRounding scope(Rounding::of(DType::f32).on_tensor_cores(true));
    const double unit = 0x1p-10;
    const Bounded cut(1.0 + 0x1p-11), other(-3.0 - 0x1p-20), exact(1.0 + 0x1p-10);
    CHECK((exact * Bounded(-2047.0)).error() < 1.001 * u * 2050.0);
    CHECK((cut * exact).error() >= unit * cut.value() * exact.value());
    CHECK((cut * exact).error() <= 1.001 * unit * cut.value() * exact.value());
    CHECK((cut * other).error() >= 2 * unit * 3.0);
    CHECK((cut * other).error() <= 2.01 * unit * 3.0);
    // Only where it is multiplied.
    CHECK((cut + other).error() <= 2.001 * 2 * u * 4.1);
    CHECK((cut / other).error() <= 1.001 * 4 * u);
    // A computed value may have any digits, even if its value here has few.
    const Bounded computed = Bounded(0.5) * Bounded(0.5);
    CHECK((computed * exact).error() >= unit * 0.25);
    // Other arithmetic cuts nothing, were it no number.
    for (const double value : {1.0 + 0x1p-20, static_cast<double>(INFINITY)})
        CHECK_FALSE(Rounding::of(DType::f32).cuts(value));
}
