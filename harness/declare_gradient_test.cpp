// SPDX-License-Identifier: Apache-2.0
// Declared gradients with a reference by hand, steps, and choices by the largest value or the sign.
#include "harness/declare_operator.hpp"

#include <doctest/doctest.h>

#include <string>

#include "harness/testing/declarations.hpp"
#include "harness/testing/operator.hpp"

namespace gradverify {

namespace {

using testing::contains;
using testing::mistake_of;

/// y = max(w x, 0), and its product before, which is saved.
OperatorDeclaration layer() {
    return declare_operator("layer")
        .parameter("n")
        .input("x", {"n"})
        .input("w", {})
        .saved("product", {"n"})
        .output("y", {"n"})
        .piecewise_polynomial()
        .forward([]<class T>(const ForwardCall<T>& call) {
            for (std::int64_t i = 0; i < call.input("x").elements(); ++i) {
                call.output("product")(i) = call.input("w")() * call.input("x")(i);
                call.output("y")(i) = max(call.output("product")(i), T(0.0));
            }
        });
}

const auto by_hand = []<class T>(const ForwardCall<T>& call) {
    for (std::int64_t i = 0; i < call.input("x").elements(); ++i) {
        const bool passes = call.input("product")(i) > 0.0;
        call.output("dproduct")(i) = passes ? call.input("dy")(i) : T(0.0);
        call.output("dx")(i) = call.output("dproduct")(i) * call.input("w")();
    }
};

}  // namespace

TEST_CASE("a pass with a reference of its own may yield gradients by what was saved, and outputs") {
    const std::vector<std::string> taken{"dy", "x", "w", "product"};
    const Operator op = layer().gradient("backward", taken, {"dproduct", "dx"}, by_hand);
    REQUIRE(op.mistakes.empty());
    CHECK(op.is_exact_on_integers());
    const PassSpec& pass = *op.find_pass("backward");
    CHECK(pass.outputs == std::vector<std::string>{"dproduct", "dx"});
    CHECK(pass.derived->outputs == std::vector<std::string>{"dx"});
    CHECK(op.is_gradient("dx"));
    CHECK_FALSE(op.is_gradient("dproduct"));
    CHECK_FALSE(op.is_gradient("dy"));
    const std::vector<Array<double>> given{
        {{2}, {5, 7}}, {{2}, {1, -1}}, {{}, {3}}, {{2}, {3, -3}}};
    const auto results = reference_outputs(op, pass, Problem::parse(op.space, "n=2"), given);
    CHECK(results[0].data == std::vector<double>{5, 0});
    CHECK(results[1].data == std::vector<double>{15, 0});
    const Operator derived = layer().gradient("backward", taken, {"dproduct", "dx"});
    CHECK(contains(mistake_of(derived), "a saved output's gradient needs a reference of the pass"));
    const Operator cotangent = layer().gradient("backward", taken, {"dy", "dx"}, by_hand);
    CHECK(contains(mistake_of(cotangent), "yields 'dy', which is no gradient"));
    const Operator none = layer().gradient("backward", taken, {"dproduct"}, by_hand);
    CHECK(contains(mistake_of(none), "needs a name other than `forward`, and an output"));
}

TEST_CASE("steps name a pass and tensors that are there") {
    const Step step{"relu.forward",
                    [](const Problem&) { return std::string("n=1"); },
                    {{"x", "product"}, {"y", "y"}}};
    const Operator op = layer().steps("forward", {step});
    CHECK(op.mistakes.empty());
    CHECK(op.is_chain());
    CHECK(op.forward().steps.front().tensor("x") == "product");
    CHECK_THROWS_WITH(op.forward().steps.front().tensor("z"),
                      "the step relu.forward does not say what its tensor z is");
    CHECK_FALSE(Operator(layer()).is_chain());
}

TEST_CASE("the largest of some values is the first of equal ones; within rounding any may be it") {
    LargestOf<double> plain;
    for (const double value : {1.0, 4.0, 4.0, 2.0}) plain.see(value, static_cast<int>(value * 10));
    CHECK(plain.value() == 4.0);
    CHECK(plain.position() == 40.0);
    const auto bounded = [](std::initializer_list<double> values, double error) {
        LargestOf<Bounded> largest;
        std::int64_t position = 0;
        for (const double value : values) largest.see(Bounded::within(value, error), position++);
        return largest.position();
    };
    CHECK(bounded({1.0, 4.0, 4.0, 2.0}, 0.0).value() == 1.0);
    CHECK(bounded({1.0, 4.0, 4.0, 2.0}, 0.0).error() == 0.0);
    CHECK(bounded({3.9, 1.0, 4.0}, 0.01).error() == 0.0);
    CHECK(bounded({3.9, 1.0, 4.0}, 0.06).value() == 2.0);
    CHECK(bounded({3.9, 1.0, 4.0}, 0.06).error() == 2.0);
    CHECK(bounded({1.0, 3.9, 4.0}, 0.06).error() == 1.0);
}

TEST_CASE("a ReLU's gradient is the cotangent or zero, and near zero either") {
    CHECK(where_positive(2.0, 5.0) == 5.0);
    CHECK(where_positive(0.0, 5.0) == 0.0);
    CHECK(where_positive(-1.0, 5.0) == 0.0);
    const auto check = [](double x, double x_error, double value, double error) {
        const Bounded cotangent = Bounded::within(-5.0, 0.5);
        const Bounded gradient = where_positive(Bounded::within(x, x_error), cotangent);
        CHECK(gradient.value() == value);
        CHECK(gradient.error() == error);
    };
    check(2.0, 1.0, -5.0, 0.5);
    check(-2.0, 1.0, 0.0, 0.0);
    check(0.0, 0.0, 0.0, 0.0);
    check(0.5, 0.5, -5.0, 5.5);
    check(-0.5, 0.75, 0.0, 5.5);
}

}  // namespace gradverify
