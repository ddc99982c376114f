// SPDX-License-Identifier: Apache-2.0
// What tensor cores make of a bound: sums that are cut off, and factors that are cut to tf32.
#include <doctest/doctest.h>

#include <cmath>

#include "harness/base/random.hpp"
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
    // What is data stays exact: it is the sums that are cut.
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
    // What was computed has any digits, also where its value has few.
    const Bounded computed = Bounded(0.5) * Bounded(0.5);
    CHECK((computed * exact).error() >= unit * 0.25);
}

TEST_CASE("a matrix product on tensor cores has the bound of its scalar loop") {
    const ScopedRounding scope(Rounding::of(DType::f32).on_tensor_cores(true));
    SplitMix64 random(4);
    Matrix<Bounded> a(3, 7), b(7, 2);
    for (auto* matrix : {&a, &b})
        for (Eigen::Index i = 0; i < matrix->size(); ++i) (*matrix)(i) = random_float(random);
    a(1, 3) = 0.0;
    const Matrix<Bounded> got = product(a, b);
    for (Eigen::Index i = 0; i < 3; ++i)
        for (Eigen::Index j = 0; j < 2; ++j) {
            Bounded sum;
            for (Eigen::Index l = 0; l < 7; ++l) sum += a(i, l) * b(l, j);
            CHECK(got(i, j).error() == doctest::Approx(sum.error()).epsilon(1e-6));
            CHECK(got(i, j).error() >= 0x1p-11 * sum.magnitude());
        }
}

}  // namespace gradverify
