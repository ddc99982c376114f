// SPDX-License-Identifier: Apache-2.0
#include "harness/numbers/differences.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

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

TEST_CASE("steps shrink by 1.4, each as it is beside one, until the estimates drift apart") {
    std::vector<double> steps;
    const Derivative derivative = smooth_derivative(
        [&](double h) {
            steps.push_back(h);
            return 1.0 / (2.0 + h);
        },
        0.0625);
    double step = 0.0625;
    for (std::size_t i = 0; i + 1 < steps.size(); i += 2, step /= 1.4) {
        CHECK(std::abs(steps[i]) == (1.0 + step) - 1.0);
        CHECK(steps[i + 1] == -steps[i]);
    }
    // Here rounding ends it.
    CHECK(steps.size() == 14);
    CHECK(std::abs(derivative.value + 0.25) < 1e-14);
    CHECK(derivative.error == doctest::Approx(2.942e-15).epsilon(1e-3).scale(0));
}

TEST_CASE("the estimate is the polynomial in h^2 through the last quotients, at 0") {
    // Expected values from Lagrange's formula, and the errors from its neighbours' differences.
    struct Sample {
        double power;
        std::size_t calls;
        double value, error;
    };
    for (const Sample& sample : {Sample{7, 6, 0.9984010628971958, 0.003674098175146},
                                 {9, 6, 0.9997609005248369, 5.037883874517e-4},
                                 {11, 6, 0.9999672149373016, 6.654640355164e-5}}) {
        CAPTURE(sample.power);
        std::size_t calls = 0;
        const Derivative derivative = smooth_derivative(
            [&](double h) {
                ++calls;
                return std::pow(h, sample.power) + h;
            },
            0.5);
        CHECK(calls == sample.calls);
        CHECK(derivative.value == doctest::Approx(sample.value).epsilon(1e-11));
        CHECK(derivative.error == doctest::Approx(sample.error).epsilon(1e-9));
    }
    // Two orders take away h^2 and h^4.
    for (const double power : {3, 5}) {
        const Derivative derivative =
            smooth_derivative([&](double h) { return std::pow(h, power) + h; }, 0.5);
        CHECK(std::abs(derivative.value - 1.0) < 1e-14);
        CHECK(derivative.error < 1e-14);
    }
}

TEST_CASE("of two estimates with equal errors the later counts") {
    // Quotients of 0, 1, 0 and so on: both of the first order are off by as much.
    const Derivative derivative = smooth_derivative(
        [](double h) { return std::abs(h) > 0.04 && std::abs(h) < 0.05 ? h : 0.0; }, 0.0625);
    CHECK(derivative.value == doctest::Approx(-1.0 / 0.96));
    CHECK(derivative.error == doctest::Approx(1.96 / 0.96));
}

TEST_CASE("it ends at once where two steps agree, and after ten where none is a step back") {
    int calls = 0;
    smooth_derivative([&](double h) { return ++calls, h; }, 0.0625);
    CHECK(calls == 4);
    calls = 0;
    smooth_derivative(
        [&](double h) { return ++calls, std::copysign(std::pow(std::abs(h), 1.5), h); }, 0.0625);
    CHECK(calls == 20);
}

TEST_CASE("where the function overflows, nothing is claimed of the last finite quotient") {
    const Derivative derivative = smooth_derivative(
        [](double h) { return std::abs(h) > 0.05 ? h : std::copysign(INFINITY, h); }, 0.0625);
    CHECK(derivative.value == 1.0);
    CHECK(std::isinf(derivative.error));
}

TEST_CASE("at a kink the error estimate is large enough to show that there is no derivative") {
    // max(h + 1/64, 0): a kink inside the interval that the first steps span.
    const Derivative derivative =
        smooth_derivative([](double h) { return h + 0.015625 > 0.0 ? h + 0.015625 : 0.0; }, 0.0625);
    CHECK(derivative.error > 1e-4);
}

}  // namespace gradverify
