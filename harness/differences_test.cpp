// SPDX-License-Identifier: Apache-2.0
#include "harness/differences.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace gradverify {

TEST_CASE("a linear function's derivative is exact in one step") {
    const Derivative derivative = linear_derivative([](double h) { return 17.0 + 3.0 * h; });
    CHECK(derivative.value == 3.0);
    CHECK(derivative.error == 0.0);
}

TEST_CASE("a smooth function's derivative is within its own error estimate, which is small") {
    struct Sample {
        double (*function)(double);
        double want;
    };
    const Sample samples[] = {
        {[](double h) { return std::exp(h); }, 1.0},
        {[](double h) { return std::sin(1.0 + 3.0 * h); }, 3.0 * std::cos(1.0)},
        {[](double h) { return 1.0 / (2.0 + h); }, -0.25},
        {[](double h) { return std::tanh(5.0 * h); }, 5.0},
        {[](double h) { return h * h * h - 2.0 * h; }, -2.0},
    };
    for (const Sample& sample : samples) {
        const Derivative derivative = smooth_derivative(sample.function, 0.0625);
        CHECK(std::abs(derivative.value - sample.want) <=
              10.0 * derivative.error + 1e-12 * std::abs(sample.want));
        CHECK(derivative.error <= 1e-9);
        CHECK(derivative.value == doctest::Approx(sample.want).epsilon(1e-9));
    }
}

TEST_CASE("at a kink the error estimate is large enough to show that there is no derivative") {
    // max(h + 1/64, 0): a kink inside the interval that the first steps span.
    const Derivative derivative =
        smooth_derivative([](double h) { return h + 0.015625 > 0.0 ? h + 0.015625 : 0.0; }, 0.0625);
    CHECK(derivative.error > 1e-4);
}

TEST_CASE("a wrong derivative is far outside the estimate") {
    const Derivative derivative =
        smooth_derivative([](double h) { return std::exp(2.0 * h); }, 0.0625);
    CHECK(std::abs(derivative.value - 2.001) > 1e3 * derivative.error);
}

}  // namespace gradverify
