// SPDX-License-Identifier: Apache-2.0
#include "properties/data/exact_sums.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "harness/declare_operator.hpp"

using namespace gradverify;

namespace {

/// An operator of one number each.
OperatorDeclaration of_ones(const std::vector<std::string>& inputs) {
    OperatorDeclaration declared = declare_operator("ones");
    for (const std::string& name : inputs) declared.input(name, {1});
    return std::move(declared.output("y", {1}));
}

/// Whether a pass on these numbers, by the name of their tensor, is exact; a cotangent is one.
bool stays_exact(const Operator& op, const char* pass_name,
                 const std::map<std::string, double>& numbers, int bits = 8) {
    const PassSpec& pass = *op.find_pass(pass_name);
    std::vector<Array<double>> taken;
    for (const std::string& name : pass.taken_by_reference())
        taken.push_back({{1}, {numbers.contains(name) ? numbers.at(name) : 1.0}});
    return sums_stay_exact(op, pass, Problem(op.space, 0), taken, bits);
}

}  // namespace

TEST_CASE("a sum counts with the magnitudes of its terms and products, whatever their signs") {
    // What is summed is larger than what comes out.
    const Operator op = of_ones({"x", "a", "b"})
                            .forward([]<class T>(const ForwardCall<T>& call) {
                                const auto x = call.input("x"), a = call.input("a");
                                call.output("y")(0) += x(0) * a(0) - x(0) * call.input("b")(0);
                            })
                            .piecewise_polynomial();
    const auto is_exact = [&](double x, double a, double b, int bits = 8) {
        return stays_exact(op, "forward", {{"x", x}, {"a", a}, {"b", b}}, bits);
    };
    CHECK(is_exact(16, 8, 8));
    CHECK(is_exact(-16, 8, 7));
    CHECK_FALSE(is_exact(16, 9, 8));
    CHECK_FALSE(is_exact(16, -9, -8));
    CHECK(is_exact(16, 9, 8, 9));
    // A product beyond the type's integers, which another cancels.
    CHECK_FALSE(is_exact(16, 17, 17));
    CHECK_FALSE(is_exact(16, -17, -17));
}

TEST_CASE("a comparison of what is too large is not exact, and a tie that is left open is") {
    const Operator op = of_ones({"x", "a"})
                            .forward([]<class T>(const ForwardCall<T>& call) {
                                const auto x = call.input("x"), a = call.input("a");
                                call.output("y")(0) = x(0) * x(0) > a(0) ? x(0) * a(0) : x(0);
                            })
                            .piecewise_polynomial();
    for (const char* pass : {"forward", "backward"}) {
        CHECK(stays_exact(op, pass, {{"x", 4}, {"a", 15}}));
        CHECK_FALSE(stays_exact(op, pass, {{"x", 17}, {"a", 2}}));
        CHECK(stays_exact(op, pass, {{"x", 4}, {"a", 16}}));
    }
}

TEST_CASE("indices need not be exact in the type of the numbers") {
    const Operator op = of_ones({"x"})
                            .saved("index", {1}, whole_numbers(0, 1000))
                            .forward([]<class T>(const ForwardCall<T>& call) {
                                call.output("y")(0) = call.input("x")(0);
                                call.output("index")(0) = T(300.0);
                            })
                            .piecewise_polynomial();
    for (const double x : {256.0, -256.0, 257.0, -257.0})
        CHECK(stays_exact(op, "forward", {{"x", x}}) == (std::abs(x) == 256.0));
}
