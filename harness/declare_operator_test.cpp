// SPDX-License-Identifier: Apache-2.0
// What a declaration becomes, and that each mistake in one is a sentence that says what is right.
#include "harness/declare_operator.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "harness/registry/registry.hpp"
#include "harness/testing/declarations.hpp"
#include "harness/testing/operator.hpp"

namespace gradverify {

namespace {

using testing::contains;
using testing::mistake_of;
using testing::run;

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

/// The declaration without its forward function's reading of the attribute.
OperatorDeclaration copying() {
    return declare_operator("copying")
        .parameter("n")
        .input("x", {"n"})
        .output("y", {"n"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            for (std::int64_t i = 0; i < call.input("x").elements(); ++i)
                call.output("y").flat(i) = call.input("x").flat(i);
        });
}

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
}

TEST_CASE("references and derivatives come from the forward function") {
    const Operator op = scaled();
    const Problem problem = Problem::parse(op.space, "n=2,slope=-2");
    CHECK(run(op.forward(), op, problem, {{{2}, {1, 3}}})[0].data == std::vector<double>{-2, -6});
    const std::vector<Array<double>> taken{{{2}, {5, 7}}, {{2}, {1, 3}}};
    CHECK(run(op.passes[1], op, problem, taken)[0].data == std::vector<double>{-10, -14});
    const std::vector<Array<double>> x{{{2}, {1, 3}}}, dy{{{2}, {5, 7}}};
    const ValueAlong along = op.along(problem, x, 0, {{2}, {1, -1}}, dy);
    CHECK(along.value == -2.0 * (5 + 21));
    CHECK(along.derivative == -2.0 * (5 - 7));
    CHECK_FALSE(along.is_kink);
    CHECK(op.forward().multiply_adds(problem) > 0.0);
    CHECK(op.forward().reduction_length(problem) == 2);
}

TEST_CASE("an operator without a differentiable input or output says so") {
    CHECK(mistake_of(declare_operator("o")
                         .parameter("n")
                         .input("i", {"n"}, indices_below("n"))
                         .output("y", {"n"})
                         .forward([]<class T>(const ForwardCall<T>&) {})) ==
          "no input is differentiable, so there is no gradient to verify; declare at least one "
          "floating-point input without constant()");
    CHECK(mistake_of(declare_operator("o")
                         .parameter("n")
                         .input("x", {"n"})
                         .saved("y", {"n"})
                         .forward([]<class T>(const ForwardCall<T>&) {})) ==
          "no output has a cotangent, so there is no gradient to verify; declare at least one with "
          "output(), not saved()");
}

TEST_CASE("whole numbers need a range, and have no gradient") {
    CHECK(mistake_of(
              copying().input("labels", {"n"}, {.dtype = DType::i64, .differentiable = false})) ==
          "the input labels holds whole numbers but has no range, so none can be drawn; declare it "
          "with indices_below(\"PARAMETER\") or whole_numbers(LOWEST, HIGHEST)");
    Holds with_gradient = whole_numbers(0, 3);
    with_gradient.differentiable = true;
    CHECK(contains(mistake_of(copying().input("labels", {"n"}, with_gradient)),
                   "which have no gradient; declare it with constant()"));
}

TEST_CASE("a shape that becomes negative is found before any kernel runs") {
    const std::string mistake =
        mistake_of(declare_operator("valid")
                       .parameter("n")
                       .parameter("window")
                       .input("x", {"n"})
                       .output("y",
                               [](const Problem& problem) {
                                   return Sizes{problem.scalar("n") - problem.scalar("window") + 1};
                               })
                       .forward([]<class T>(const ForwardCall<T>&) {}));
    CHECK(
        mistake ==
        "valid has no such problem: its tensor y (-1) has a negative size; let the shape function "
        "give 0 there, or exclude the problem with valid_if() (at n=1,window=3)");
}

TEST_CASE("a parameter that is never drawn, or never read, is a mistake") {
    CHECK(mistake_of(copying().parameter("k", {.default_value = 2, .minimum = 2, .maximum = 2})) ==
          "the parameter k is never drawn: 2 is all that its range allows; widen the range, or "
          "write the number into the forward function");
    CHECK(
        mistake_of(copying().parameter("k")) ==
        "nothing reads the parameter k: no shape, no valid_if() and not the forward function; use "
        "it, or take it out of the declaration");
    CHECK(contains(mistake_of(copying().attribute("eps", {1e-5, 0.1})),
                   "nothing reads the parameter eps"));
    CHECK(Operator(copying().parameter("k").valid_if("an even k", [](const Problem& problem) {
              return problem.scalar("k") % 2 == 1;
          })).mistakes.empty());
}

TEST_CASE("names that do not exist are mistakes that list what there is") {
    CHECK(mistake_of(copying().input("w", {"rows"})) ==
          "the tensor w names the parameter 'rows', which does not exist; there are n");
    CHECK(contains(mistake_of(copying().where("rows", equals(1))), "no parameter is called rows"));
    CHECK(contains(mistake_of(copying().input("x", {})),
                   "the tensor name 'x' is empty or given twice"));
    CHECK(contains(mistake_of(copying().gradient("grad_w", {"dy"}, {"dw"})),
                   "the gradient pass grad_w yields 'dw', which is no gradient"));
    CHECK(contains(mistake_of(copying().gradient("grad_x", {"dz"}, {"dx"})),
                   "takes 'dz', which is neither an input"));
    CHECK(contains(mistake_of(copying().gradient("forward", {"dy"}, {"dx"})),
                   "needs a name other than `forward`"));
    CHECK(contains(mistake_of(copying().sum_of_products({{"w"}})), "'w', which is no input"));
    const auto asking = [](const char* input) {
        return declare_operator("o")
            .parameter("n")
            .input("x", {"n"})
            .output("y", {"n"})
            .forward([input]<class T>(const ForwardCall<T>& call) {
                call.output("y").flat(0) = call.input(input).flat(0);
            });
    };
    CHECK(
        contains(mistake_of(asking("xx")), "asks for the input 'xx', but there is no such input"));
    CHECK(contains(mistake_of(asking("xx")), "there are x (at n=1)"));
}

TEST_CASE("an access outside of a tensor names the tensor, the index and the sizes") {
    const std::string mistake = mistake_of(declare_operator("o")
                                               .parameter("n")
                                               .input("x", {"n", 2})
                                               .output("y", {"n"})
                                               .forward([]<class T>(const ForwardCall<T>& call) {
                                                   call.output("y")(0) = call.input("x")(0, 2);
                                               }));
    CHECK(mistake == "the forward function asks for x(0, 2), but x has the sizes (1, 2) (at n=1)");
}

TEST_CASE("products that are not what is computed are a mistake") {
    CHECK(Operator(copying().sum_of_products({{"x"}})).mistakes.empty());
    const Operator squared = declare_operator("o")
                                 .parameter("n")
                                 .input("x", {"n"})
                                 .output("y", {"n"})
                                 .sum_of_products({{"x"}})
                                 .forward([]<class T>(const ForwardCall<T>& call) {
                                     const auto x = call.input("x");
                                     for (std::int64_t i = 0; i < x.size(0); ++i)
                                         call.output("y")(i) = x(i) * x(i);
                                 });
    CHECK(contains(mistake_of(squared), "it is not linear in x (at n=1)"));
    const Operator forgotten = copying().input("b", {}).sum_of_products({{"b"}});
    CHECK(contains(mistake_of(forgotten), "it is linear in x (at n=1)"));
}

namespace {

/// y = f(x), element by element.
template <class Function>
OperatorDeclaration elementwise(Function function) {
    return declare_operator("o")
        .parameter("n")
        .input("x", {"n"})
        .output("y", {"n"})
        .forward([function]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t i = 0; i < x.size(0); ++i) call.output("y")(i) = function(x(i));
        });
}

const auto ramp = []<class T>(const T& x) { return max(x, T(0.0)); };

}  // namespace

TEST_CASE("pieces that are not linear, or whose slopes are no whole numbers, are a mistake") {
    const Operator good = elementwise(ramp).piecewise_linear();
    CHECK(good.mistakes.empty());
    CHECK(good.is_exact_on_integers());
    CHECK_FALSE(good.is_linear_in("x"));
    CHECK_FALSE(Operator(elementwise(ramp)).is_exact_on_integers());
    const auto squared = []<class T>(const T& x) { return x * x; };
    CHECK(contains(mistake_of(elementwise(squared).piecewise_linear()),
                   "piecewise_linear is not what the forward function is: along whole numbers of x "
                   "it changes by 2.5"));
    const auto half = []<class T>(const T& x) { return T(0.5) * x; };
    CHECK(contains(mistake_of(elementwise(half).piecewise_linear()),
                   "changes by 0.5 and, near by, 0.5 (at n=1); leave it out"));
    CHECK(
        contains(mistake_of(copying().sum_of_products({{"x"}}).piecewise_linear()),
                 "of sum_of_products, piecewise_linear and piecewise_polynomial two are declared"));
}

TEST_CASE("exact_if says on which problems results are exact, if they are on any") {
    const auto is_even = [](const Problem& problem) { return problem.scalar("n") % 2 == 0; };
    const Operator op = elementwise(ramp).piecewise_linear().exact_if("n is even", is_even);
    CHECK(op.is_exact_at(Problem::parse(op.space, "n=2")));
    CHECK_FALSE(op.is_exact_at(Problem::parse(op.space, "n=3")));
    CHECK(op.exact_if_text == "n is even");
    CHECK(contains(mistake_of(copying().exact_if("n is even", is_even)),
                   "which needs sum_of_products, piecewise_linear or piecewise_polynomial"));
}

TEST_CASE("results can be defined for NaN of inputs that hold any number") {
    const Operator op = copying().defined_for_nan("x");
    const Problem problem = Problem::parse(op.space, "n=1");
    CHECK(op.inputs[0].admits(std::nan(""), problem));
    CHECK(op.inputs[0].admits(-INFINITY, problem));
    CHECK_FALSE(Operator(copying()).inputs[0].admits(std::nan(""), problem));
    CHECK_FALSE(Operator(copying()).inputs[0].admits(INFINITY, problem));
    CHECK(mistake_of(copying().defined_for_nan("y")) ==
          "defined_for_nan names 'y', which is no input of numbers of any size");
    CHECK(contains(mistake_of(copying().sum_of_products({{"x"}}).defined_for_nan("x")),
                   "defined_for_nan is not for a sum of products"));
    CHECK(contains(mistake_of(copying().input("i", {"n"}, indices_below("n")).defined_for_nan("i")),
                   "defined_for_nan names 'i'"));
    CHECK(contains(mistake_of(copying().input("p", {}, probabilities()).defined_for_nan("p")),
                   "defined_for_nan names 'p'"));
}

TEST_CASE("kernels may declare the layouts that are declared of a tensor") {
    const auto turned = [](int rank) {
        std::vector<int> axes;
        for (int axis = rank; axis-- > 0;) axes.push_back(axis);
        return axes;
    };
    const auto as_is = [](int) { return std::vector<int>{0}; };
    const std::vector<AxisOrder> orders{{"as_is", as_is}, {"turned", turned}};
    const Operator op = copying().layouts("y", orders);
    CHECK(op.inputs[0].orders.empty());
    REQUIRE(op.outputs[0].orders.size() == 2);
    CHECK(op.outputs[0].orders[1].name == "turned");
    CHECK(mistake_of(copying().layouts("z", orders)) ==
          "layouts names 'z', which is no input and no output");
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

TEST_CASE("without a forward function nothing can be derived") {
    CHECK(contains(
        mistake_of(declare_operator("o").parameter("n").input("x", {"n"}).output("y", {"n"})),
        "there is no forward function"));
}

TEST_CASE("the registry says an operator's mistakes, and not that its passes are missing") {
    Registry registry;
    registry.add(copying().parameter("k"));
    KernelDeclaration kernel = testing::toy_kernel("some");
    kernel.operator_name = "copying";
    registry.add(std::move(kernel));
    const std::string refusal = testing::refusal([&] { registry.check(); });
    CHECK(refusal.starts_with("operator copying: nothing reads the parameter k"));
    CHECK_FALSE(contains(refusal, "has no pass"));
}

TEST_CASE("values outside of a tensor's domain are not admitted, and the simplest one is inside") {
    const Operator op = copying()
                            .input("p", {"n"}, constant(probabilities()))
                            .input("s", {"n"}, constant(positive_numbers()))
                            .input("c", {"n"}, constant(numbers_between(2.0, 4.0)))
                            .input("i", {"n"}, whole_numbers(3, 5));
    const Problem problem = Problem::parse(op.space, "n=1");
    const auto simplest = [&](const char* name) {
        return op.tensor_named(name).simplest_value(problem);
    };
    CHECK(simplest("x") == 0.0);
    CHECK(simplest("p") == 0.5);
    CHECK(simplest("s") == 1.0);
    CHECK(simplest("c") == 3.0);
    CHECK(simplest("i") == 3.0);
    CHECK(op.tensor_named("p").admits(0.25, problem));
    CHECK_FALSE(op.tensor_named("p").admits(1.0, problem));
    CHECK_FALSE(op.tensor_named("s").admits(0.0, problem));
    CHECK(op.tensor_named("i").admits(5.0, problem));
    CHECK_FALSE(op.tensor_named("i").admits(6.0, problem));
    CHECK_FALSE(op.tensor_named("i").admits(3.5, problem));
    CHECK_FALSE(op.tensor_named("x").admits(INFINITY, problem));
}

TEST_CASE("a kernel's condition on a real parameter is refused with what to use") {
    Registry registry;
    registry.add(scaled());
    KernelDeclaration kernel = testing::toy_kernel("some");
    kernel.operator_name = "scaled";
    kernel.where("slope", equals(0));
    registry.add(std::move(kernel));
    CHECK(contains(testing::refusal([&] { registry.check(); }),
                   "it names a real parameter; use only_if with Problem::real"));
}

TEST_CASE("an alias must name an output and an input of the pass") {
    Registry registry;
    registry.add(scaled());
    KernelDeclaration kernel = testing::toy_kernel("some");
    kernel.operator_name = "scaled";
    kernel.in_place("y", "dx");
    registry.add(std::move(kernel));
    CHECK(contains(testing::refusal([&] { registry.check(); }),
                   "in_place(\"y\", \"dx\") needs an output and an input of the pass; its outputs "
                   "are y, its inputs x"));
}

TEST_CASE("numbers_below gives a tensor a domain by the problem") {
    const Operator op = copying().input("w", {}, numbers_below([](const Problem& problem) {
                                            return 1.0 / static_cast<double>(problem.scalar("n"));
                                        }));
    const ValueDomain domain = op.tensor_named("w").domain_at(Problem::parse(op.space, "n=4"));
    CHECK(domain.lowest == -0.25);
    CHECK(domain.highest == 0.25);
}

}  // namespace gradverify
