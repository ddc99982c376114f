// SPDX-License-Identifier: Apache-2.0
#include "harness/declare_operator.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "harness/registry/registry.hpp"
#include "harness/testing/declarations.hpp"
#include "harness/testing/operator.hpp"

namespace gradverify {

namespace {

using testing::copying;
using testing::elementwise;

/// y = slope x for each of n numbers.
OperatorDeclaration scaled() {
    return declare_operator("scaled")
        .parameter("n", {.minimum = 0})
        .attribute("slope", {0.5, -2.0})
        .input("x", {"n"})
        .output("y", {"n"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            const auto y = call.output("y");
            for (std::int64_t i = 0; i < x.size(0); ++i) y(i) = call.attribute("slope") * x(i);
        });
}

const auto ramp = []<class T>(const T& x) { return max(x, T(0.0)); };

}  // namespace

TEST_CASE("without gradient passes there is one for all differentiable inputs") {
    const Operator op = scaled();
    CHECK(op.mistakes.empty());
    REQUIRE(op.passes.size() == 2);
    CHECK(op.forward().name == "forward");
    CHECK(op.passes[1].name == "grad_x");
    CHECK(op.passes[1].inputs == std::vector<std::string>{"dy", "x"});
    CHECK(op.passes[1].outputs == std::vector<std::string>{"dx"});
    const Operator two = copying().input("w", {});
    CHECK(two.passes[1].name == "backward");
    CHECK(two.passes[1].outputs == std::vector<std::string>{"dx", "dw"});
    const Problem problem = Problem::parse(op.space, "n=2,slope=-2");
    const std::vector<Array<double>> x{{{2}, {1, 3}}};
    CHECK(reference_outputs(op, op.forward(), problem, x)[0].data == std::vector<double>{-2, -6});
    CHECK(op.forward().multiply_adds(problem) > 0.0);
    CHECK(op.forward().reduction_length(problem) == 2);
}

TEST_CASE("exact_if says on which problems results are exact, if they are on any") {
    const auto is_even = [](const Problem& problem) { return problem.scalar("n") % 2 == 0; };
    const Operator op = elementwise(ramp).piecewise_linear().exact_if("n is even", is_even);
    CHECK(op.is_exact_at(Problem::parse(op.space, "n=2")));
    CHECK_FALSE(op.is_exact_at(Problem::parse(op.space, "n=3")));
    CHECK(op.exact_if_text == "n is even");
    CHECK_FALSE(op.is_linear_in("x"));
    CHECK_FALSE(Operator(elementwise(ramp)).is_exact_on_integers());
}

TEST_CASE("results can be defined for NaN of inputs that hold any number") {
    const Operator op = copying().defined_for_nan("x");
    const Problem problem = Problem::parse(op.space, "n=1");
    CHECK(op.inputs[0].admits(std::nan(""), problem));
    CHECK(op.inputs[0].admits(-INFINITY, problem));
    CHECK_FALSE(Operator(copying()).inputs[0].admits(std::nan(""), problem));
    CHECK_FALSE(Operator(copying()).inputs[0].admits(INFINITY, problem));
}

TEST_CASE("a parameter that is read for some indices only is read") {
    const Operator masked = declare_operator("masked")
                                .parameter("n")
                                .attribute("p", {0.5, 0.25})
                                .input("x", {"n"})
                                .input("mask", {"n"}, whole_numbers(0, 1))
                                .output("y", {"n"})
                                .forward([]<class T>(const ForwardCall<T>& call) {
                                    for (std::int64_t i = 0; i < call.parameter("n"); ++i)
                                        if (call.indices("mask")(i) != 0)
                                            call.output("y")(i) =
                                                call.attribute("p") * call.input("x")(i);
                                });
    CHECK(masked.mistakes.empty());
}

TEST_CASE("isnan is told of every scalar, and is no comparison") {
    const ScopedDecisions decisions;
    for (const double value : {std::nan(""), 1.0}) {
        CHECK(isnan(value) == std::isnan(value));
        CHECK(isnan(Bounded(value)) == std::isnan(value));
        CHECK(isnan(Dual(value, 1.0)) == std::isnan(value));
        CHECK(isnan(Traced(value)) == std::isnan(value));
    }
    CHECK(decisions.made().trace == Decisions{}.trace);
    CHECK(decisions.made().ties == 0);
}

TEST_CASE("the registry says what is wrong with an operator, and no more of its kernels") {
    KernelDeclaration kernel = testing::toy_kernel("some");
    kernel.operator_name = "o";
    const std::string refusal = testing::complaint_of({kernel}, copying().parameter("k"));
    CHECK(refusal.starts_with("operator o: nothing reads the parameter k"));
    CHECK_FALSE(testing::contains(refusal, "has no pass"));
}

TEST_CASE("values outside of a tensor's domain are not admitted, and the simplest one is inside") {
    const Operator op = copying()
                            .input("p", {"n"}, constant(probabilities()))
                            .input("s", {"n"}, constant(positive_numbers()))
                            .input("c", {"n"}, constant(numbers_between(2.0, 4.0)))
                            .input("i", {"n"}, whole_numbers(3, 5))
                            .input("w", {"n"}, numbers_below([](const Problem& of) {
                                       return 1.0 / static_cast<double>(of.scalar("n"));
                                   }));
    const Problem problem = Problem::parse(op.space, "n=4");
    struct Tensor {
        const char* name;
        double simplest;
        std::vector<double> inside, outside;
    };
    for (const Tensor& tensor :
         {Tensor{"x", 0.0, {}, {INFINITY}}, Tensor{"p", 0.5, {0.25}, {1.0}},
          Tensor{"s", 1.0, {}, {0.0}}, Tensor{"c", 3.0, {}, {}},
          Tensor{"i", 3.0, {5.0}, {6.0, 3.5}}, Tensor{"w", 0.0, {-0.249, 0.249}, {-0.25, 0.25}}}) {
        CAPTURE(tensor.name);
        const TensorSpec& spec = op.tensor_named(tensor.name);
        CHECK(spec.simplest_value(problem) == tensor.simplest);
        for (const double value : tensor.inside) CHECK(spec.admits(value, problem));
        for (const double value : tensor.outside) CHECK_FALSE(spec.admits(value, problem));
    }
}

}  // namespace gradverify
