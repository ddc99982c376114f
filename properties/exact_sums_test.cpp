// SPDX-License-Identifier: Apache-2.0
#include "properties/exact_sums.hpp"

#include <doctest/doctest.h>

#include "harness/declare_operator.hpp"
#include "properties/thinned_draws.hpp"

using namespace gradverify;

namespace {

/// y = x*a - x*b: what is summed is larger than what comes out.
Operator difference() {
    return declare_operator("difference")
        .parameter("n")
        .input("x", {"n"})
        .input("a", {"n"})
        .input("b", {"n"})
        .output("y", {"n"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), a = call.input("a"), b = call.input("b");
            const auto y = call.output("y");
            for (std::int64_t i = 0; i < y.size(0); ++i) y(i) = x(i) * a(i) - x(i) * b(i);
        })
        .piecewise_polynomial();
}

bool stays_exact(double x, double a, double b, int bits) {
    const Operator op = difference();
    const auto one = [](double value) { return Array<double>{{1}, {value}}; };
    return sums_stay_exact(op, op.forward(), Problem(op.space, 0), {one(x), one(a), one(b)}, bits);
}

}  // namespace

TEST_CASE("a sum counts with the magnitudes of its terms, whatever their signs") {
    CHECK(stays_exact(16, 8, 8, 8));
    CHECK(stays_exact(-16, 8, 7, 8));
    CHECK_FALSE(stays_exact(16, 9, 8, 8));
    CHECK_FALSE(stays_exact(16, -9, -8, 8));
    CHECK(stays_exact(16, 9, 8, 9));
}

TEST_CASE("a product beyond the type's integers is noticed where another cancels it") {
    CHECK_FALSE(stays_exact(16, 17, 17, 8));
    CHECK_FALSE(stays_exact(16, -17, -17, 8));
}

TEST_CASE("thinned integers of a difference stay exact in every order") {
    const Operator op = difference();
    const Problem problem = Problem::parse(op.space, "n=40");
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        CAPTURE(seed);
        const Values values = draw_thinned(op, problem, {.seed = seed}, ElementTypes(8));
        for (std::size_t i = 0; i < 40; ++i)
            CHECK(std::abs(values.at("x").data[i]) *
                      (std::abs(values.at("a").data[i]) + std::abs(values.at("b").data[i])) <=
                  256.0);
    }
}
