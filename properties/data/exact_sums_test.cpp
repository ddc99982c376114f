// SPDX-License-Identifier: Apache-2.0
#include "properties/data/exact_sums.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "harness/declare_operator.hpp"

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
            for (std::int64_t i = 0; i < y.size(0); ++i) y(i) += x(i) * a(i) - x(i) * b(i);
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

namespace {

/// y = x*a where x*x is above a, else x.
Operator branch() {
    return declare_operator("branch")
        .input("x", {1})
        .input("a", {1})
        .output("y", {1})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), a = call.input("a");
            call.output("y")(0) = x(0) * x(0) > a(0) ? x(0) * a(0) : x(0);
        })
        .piecewise_polynomial();
}

bool branch_stays_exact(const char* pass, double x, double a) {
    const Operator op = branch();
    std::vector<Array<double>> taken;
    for (const std::string& name : op.find_pass(pass)->taken_by_reference())
        taken.push_back({{1}, {name == "x" ? x : name == "a" ? a : 1.0}});
    return sums_stay_exact(op, *op.find_pass(pass), Problem(op.space, 0), taken, 8);
}

}  // namespace

TEST_CASE("a comparison of what is too large is not exact, and a tie that is left open is") {
    CHECK(branch_stays_exact("forward", 4, 15));
    CHECK(branch_stays_exact("backward", 4, 15));
    CHECK_FALSE(branch_stays_exact("forward", 17, 2));
    CHECK_FALSE(branch_stays_exact("backward", 17, 2));
    CHECK(branch_stays_exact("forward", 4, 16));
    CHECK(branch_stays_exact("backward", 4, 16));
}

TEST_CASE("indices need not be exact in the type of the numbers") {
    const Operator op = declare_operator("place")
                            .input("x", {1})
                            .output("y", {1})
                            .saved("index", {1}, whole_numbers(0, 1000))
                            .forward([]<class T>(const ForwardCall<T>& call) {
                                call.output("y")(0) = call.input("x")(0);
                                call.output("index")(0) = T(300.0);
                            })
                            .piecewise_polynomial();
    for (const double x : {256.0, -256.0, 257.0, -257.0})
        CHECK(sums_stay_exact(op, op.forward(), Problem(op.space, 0), {Array<double>{{1}, {x}}},
                              8) == (std::abs(x) == 256.0));
}
