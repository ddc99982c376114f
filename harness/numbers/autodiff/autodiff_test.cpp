// SPDX-License-Identifier: Apache-2.0
// Each function on each scalar: derivatives against differences, bounds against the host's floats.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "harness/base/random.hpp"
#include "harness/numbers/autodiff/dual.hpp"
#include "harness/numbers/autodiff/tape.hpp"

namespace {

using namespace gradverify;

double uniform(SplitMix64& random, double low, double high) {
    return low + (high - low) * static_cast<double>(random.below(1 << 24)) * 0x1p-24;
}

/// A function of the table on each scalar, and where it is defined.
struct Entry {
    const char* name;
    std::function<double(double)> value;
    std::function<float(float)> in_float;
    std::function<Dual(const Dual&)> dual;
    std::function<Traced(const Traced&)> traced;
    std::function<Bounded(const Bounded&)> bounded;
    double low, high;
};

#define ENTRY(NAME, LOW, HIGH)                                                              \
    Entry {                                                                                 \
        #NAME, [](double x) { return NAME(x); }, [](float x) { return NAME(x); },           \
            [](const Dual& x) { return NAME(x); }, [](const Traced& x) { return NAME(x); }, \
            [](const Bounded& x) { return NAME(x); }, LOW, HIGH                             \
    }

float rsqrt(float x) { return 1.0f / std::sqrt(x); }
using gradverify::rsqrt;

std::vector<Entry> table() {
    return {ENTRY(sqrt, 0.1, 9),   ENTRY(rsqrt, 0.1, 9), ENTRY(cbrt, 0.1, 9), ENTRY(exp, -9, 9),
            ENTRY(exp2, -9, 9),    ENTRY(expm1, -2, 9),  ENTRY(log, 0.1, 9),  ENTRY(log2, 0.1, 9),
            ENTRY(log1p, -0.9, 9), ENTRY(sin, -9, 9),    ENTRY(cos, -9, 9),   ENTRY(sinh, -9, 9),
            ENTRY(cosh, -9, 9),    ENTRY(tanh, -9, 9),   ENTRY(atan, -9, 9),  ENTRY(erf, -5, 5),
            ENTRY(erfc, -5, 5)};
}
#undef ENTRY

/// The gradient of a function of some inputs by the tape.
std::vector<double> gradient_of(const std::function<Traced(const std::vector<Traced>&)>& function,
                                const std::vector<double>& at) {
    Tape tape;
    std::vector<Traced> inputs;
    for (const double value : at) inputs.push_back(tape.input(value));
    const Tape::Seed seed{function(inputs).node(), 1.0};
    return tape.gradients({&seed, 1});
}

}  // namespace

TEST_CASE("every function's derivative is that of its values, forwards and backwards") {
    SplitMix64 random(1);
    for (const Entry& entry : table())
        for (int i = 0; i < 40; ++i) {
            const double x = uniform(random, entry.low + 0.05, entry.high - 0.05);
            INFO(entry.name, " at ", x);
            const auto slope = [&](double h) {
                return (entry.value(x + h) - entry.value(x - h)) / (2.0 * h);
            };
            const double want = (4.0 * slope(1e-3) - slope(2e-3)) / 3.0;
            const Dual dual = entry.dual(Dual(x, 1.0));
            CHECK(dual.value() == entry.value(x));
            CHECK(dual.tangent() == doctest::Approx(want).epsilon(1e-6));
            const auto traced =
                gradient_of([&](const auto& in) { return entry.traced(in[0]); }, {x});
            CHECK(traced[0] == doctest::Approx(dual.tangent()).epsilon(1e-12));
        }
}

TEST_CASE("the float functions of the host stay within the functions' bounds") {
    SplitMix64 random(2);
    for (const Entry& entry : table())
        for (int i = 0; i < 2000; ++i) {
            const auto x = static_cast<float>(uniform(random, entry.low, entry.high));
            const Bounded result = entry.bounded(Bounded(x));
            const double got = static_cast<double>(entry.in_float(x));
            INFO(entry.name, " at ", x);
            CHECK(std::abs(got - result.value()) <= result.error());
        }
}

TEST_CASE("an argument's error moves the result as far as the function can") {
    SplitMix64 random(3);
    for (const Entry& entry : table())
        for (int i = 0; i < 300; ++i) {
            const double x = uniform(random, entry.low + 0.02, entry.high - 0.02);
            const double error = uniform(random, 0.0, 0.01);
            const Bounded result = entry.bounded(Bounded::within(x, error));
            CAPTURE(entry.name);
            for (const double share : {-1.0, -0.6, 0.3, 1.0})
                CHECK(std::abs(entry.value(x + share * error) - entry.value(x)) <=
                      result.error() * (1.0 + 1e-9));
        }
}

TEST_CASE("the tape's gradient of a composite function is the dual numbers'") {
    const auto function = [](const auto& in) {
        using T = std::decay_t<decltype(in[0])>;
        T sum = 0.0;
        for (const T& x : in) sum += x * x / (T(1.0) + exp(-x));
        return sqrt(sum) * tanh(in[0] - in[1]) + pow(in[2] * in[2] + 1.0, T(1.5)) -
               pow(T(2.0) + in[1] * in[1], in[0]);
    };
    SplitMix64 random(4);
    for (int round = 0; round < 50; ++round) {
        std::vector<double> at;
        for (int i = 0; i < 4; ++i) at.push_back(uniform(random, -2.0, 2.0));
        const auto gradient =
            gradient_of([&](const std::vector<Traced>& in) { return function(in); }, at);
        for (std::size_t i = 0; i < at.size(); ++i) {
            std::vector<Dual> in(at.begin(), at.end());
            in[i] = Dual(at[i], 1.0);
            CHECK(gradient[i] == doctest::Approx(function(in).tangent()).epsilon(1e-10));
        }
    }
}
