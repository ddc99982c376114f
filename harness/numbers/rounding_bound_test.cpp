// SPDX-License-Identifier: Apache-2.0
// Bounds against arithmetic in float, at the ends of each type's range, and on tensor cores.
#include "harness/numbers/bounded_functions.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "harness/base/random.hpp"
#include "harness/numbers/element_bits.hpp"
#include "harness/numbers/matrix_product.hpp"

namespace gradverify {

namespace {

constexpr double u = 0x1p-24;

float random_float(SplitMix64& random) {
    const auto mantissa = static_cast<float>(random.between(1 << 23, (1 << 24) - 1));
    const float value = std::ldexp(mantissa, -24 + static_cast<int>(random.between(-3, 3)));
    return random.one_in(2) ? value : -value;
}

}  // namespace

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

}  // namespace gradverify
