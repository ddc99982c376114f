// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "harness/base/text.hpp"
#include "harness/declare_operator.hpp"
#include "harness/testing/made_operator.hpp"
#include "harness/testing/small_declarations.hpp"

namespace {

using namespace gradverify;

using testing::copying;
using testing::elementwise;

OperatorDeclaration squared() {
    return elementwise([]<class T>(const T& x) { return x * x; });
}
OperatorDeclaration halved() {
    return elementwise([]<class T>(const T& x) { return T(0.5) * x; });
}

/// A forward function that reads a tensor of this name, at this index.
OperatorDeclaration reading(const char* input, std::int64_t column) {
    return declare_operator("o")
        .parameter("n")
        .input("x", {"n", 2})
        .output("y", {"n"})
        .forward([=]<class T>(const ForwardCall<T>& call) {
            call.output("y")(0) = call.input(input)(0, column);
        });
}

OperatorDeclaration with_factor(const char* parameter, std::vector<std::string> levels) {
    const auto zero = [](std::span<const std::int64_t>) { return 0; };
    const std::vector<std::string> parameters(*parameter ? 1 : 0, parameter);
    return copying().factors({{"against", std::move(levels), parameters, zero}});
}

/// A copy of rows, padded or all of them.
OperatorDeclaration padded(const char* tensor, const char* lengths, int axis, bool copies_all) {
    return declare_operator("o")
        .parameter("n")
        .input("x", {"n", 2})
        .input("lengths", {"n"}, whole_numbers(0, 2))
        .output("y", {"n", 2})
        .padded(tensor, lengths, axis)
        .forward([=]<class T>(const ForwardCall<T>& call) {
            for (std::int64_t i = 0; i < call.parameter("n"); ++i)
                for (std::int64_t j = 0; j < (copies_all ? 2 : call.indices("lengths")(i)); ++j)
                    call.output("y")(i, j) = call.input("x")(i, j);
        });
}

const auto nothing = []<class T>(const ForwardCall<T>&) {};
const auto is_odd = [](const Problem& problem) { return problem.scalar("n") % 2 == 1; };
const std::vector<AxisOrder> orders{{"as_is", [](int) { return std::vector<int>{0}; }}};

Step step_on(const char* tensor) {
    return {"relu.forward", [](const Problem&) { return std::string("n=1"); }, {{"x", tensor}}};
}

Holds with_gradient(Holds holds) {
    holds.differentiable = true;
    return holds;
}

Sizes shrinking(const Problem& problem) {
    return {problem.scalar("n") - problem.scalar("window") + 1};
}

struct Mistaken {
    OperatorDeclaration declaration;
    const char* says;
};

void check_said(std::initializer_list<Mistaken> table) {
    for (const Mistaken& one : table) {
        CAPTURE(one.says);
        const Operator op = one.declaration;
        CHECK(op.passes.empty());
        const std::string said = joined(op.mistakes);
        CAPTURE(said);
        CHECK(testing::contains(said, one.says));
    }
}

}  // namespace

TEST_CASE("each mistake about gradients and padding is said, with what is right") {
    check_said({
        {declare_operator("o").parameter("n").input("x", {"n"}).output("y", {"n"}),
         "there is no forward function"},
        {declare_operator("o")
             .parameter("n")
             .input("i", {"n"}, indices_below("n"))
             .output("y", {"n"})
             .forward(nothing),
         "no input is differentiable, so there is no gradient to verify; declare at least one "
         "floating-point input without constant(), or the operator forward_alone()"},
        {copying().forward_alone().gradient("grad_x", {"dy"}, {"dx"}),
         "the operator is forward_alone() and has a gradient pass grad_x; leave one out"},
        {declare_operator("o").parameter("n").input("x", {"n"}).saved("y", {"n"}).forward(nothing),
         "no output has a cotangent, so there is no gradient to verify; declare at least one with "
         "output(), not saved()"},
        {copying().input("i", {"n"}, {.dtype = DType::i64, .differentiable = false}),
         "the input i holds whole numbers but has no range, so none can be drawn; declare it with "
         "indices_below(\"PARAMETER\"), whole_numbers(LOWEST, HIGHEST) or the like"},
        {copying().input("i", {"n"}, with_gradient(whole_numbers(0, 3))),
         "which have no gradient; declare it with constant()"},
        {declare_operator("valid")
             .parameter("n")
             .parameter("window")
             .input("x", {"n"})
             .output("y", shrinking)
             .forward(nothing),
         "valid has no such problem: its tensor y (-1) has a negative size; let the shape function "
         "give 0 there, or exclude the problem with valid_if() (at n=1,window=3)"},
        {padded("x", "rows", 1, false), "padded(\"x\", \"rows\") needs a tensor, and an input of"},
        {padded("x", "lengths", 0, false),
         "padded(\"x\", \"lengths\", 0) needs an axis 0 of x, and lengths for the first of its"},
        {padded("x", "lengths", 1, true),
         "the forward function reads an input behind the rows that are used, so that y depends on "
         "its padding"},
        {padded("y", "lengths", 1, true),
         "the forward function must leave zeros in y behind the rows that are used"},
    });
}

TEST_CASE("each mistake in parameters and tensors is said, with what is right") {
    check_said({
        {copying().parameter("k", {.default_value = 2, .minimum = 2, .maximum = 2}),
         "the parameter k is never drawn: 2 is all that its range allows; widen the range, or "
         "write the number into the forward function"},
        {copying().parameter("k"),
         "nothing reads the parameter k: no shape, no valid_if() and not the forward function; use "
         "it, or take it out of the declaration"},
        {copying().attribute("eps", {1e-5, 0.1}), "nothing reads the parameter eps"},
        {copying().where("rows", equals(1)), "no parameter is called rows"},
        {with_factor("m", {"only"}), "names 'm', which is no parameter; there are n"},
        {with_factor("n", {}), "gives level 0 of the smallest problem, and has 0"},
        {with_factor("", {"only"}), "is of 0 values; 1 to 8 are possible"},
        {copying().input("w", {"rows"}),
         "the tensor w names the parameter 'rows', which does not exist; there are n"},
        {copying().input("x", {}), "the tensor name 'x' is empty or given twice"},
        {copying().layouts("z", orders), "layouts names 'z', which is no input and no output"},
        {copying().defined_for_nan("y"),
         "defined_for_nan names 'y', which is no input of numbers of any size"},
        {copying().input("i", {"n"}, indices_below("n")).defined_for_nan("i"),
         "defined_for_nan names 'i'"},
        {copying().input("p", {}, probabilities()).defined_for_nan("p"),
         "defined_for_nan names 'p'"},
        {copying().sum_of_products({{"x"}}).defined_for_nan("x"),
         "defined_for_nan is not for a sum of products"},
        {reading("xx", 0), "asks for the input 'xx', but there is no such input"},
        {reading("xx", 0), "there are x (at n=1)"},
        {reading("x", 2),
         "the forward function asks for x(0, 2), but x has the sizes (1, 2) (at n=1)"},
    });
}

TEST_CASE("each mistake in passes and algebras is said, with what is right") {
    check_said({
        {copying().gradient("grad_w", {"dy"}, {"dw"}),
         "the gradient pass grad_w yields 'dw', which is no gradient"},
        {copying().gradient("grad_x", {"dz"}, {"dx"}), "takes 'dz', which is neither an input"},
        {copying().gradient("forward", {"dy"}, {"dx"}), "needs a name other than `forward`"},
        {copying().gradient("grad_x", {"x"}, {"dx"}),
         "the gradient pass grad_x takes no cotangent, which means that of a loss, 1, and y is no "
         "single number; let it take dy"},
        {copying().steps("backwards", {step_on("x")}),
         "steps() names the pass 'backwards', which does not exist"},
        {copying().steps("forward", {step_on("yy")}),
         "the step relu.forward of forward names the tensor 'yy', which does not exist"},
        {copying().sum_of_products({{"w"}}), "'w', which is no input"},
        {squared().sum_of_products({{"x"}}), "it is not linear in x (at n=1)"},
        {copying().input("b", {}).sum_of_products({{"b"}}), "it is linear in x (at n=1)"},
        {squared().piecewise_linear(),
         "piecewise_linear is not what the forward function is: along whole numbers of x it "
         "changes by 2.5"},
        {halved().piecewise_linear(), "changes by 0.5 and, near by, 0.5 (at n=1); leave it out"},
        {halved().piecewise_polynomial(),
         "piecewise_polynomial is not what the forward function is"},
        {copying().sum_of_products({{"x"}}).piecewise_linear(),
         "of sum_of_products, piecewise_linear and piecewise_polynomial two are declared"},
        {copying().exact_if("n is odd", is_odd),
         "which needs sum_of_products, piecewise_linear or piecewise_polynomial"},
    });
}

TEST_CASE("what is right has no mistakes") {
    for (const OperatorDeclaration& declaration :
         {copying().sum_of_products({{"x"}}), squared().piecewise_polynomial(),
          padded("x", "lengths", 1, false).padded("y", "lengths"), with_factor("n", {"only"}),
          copying().parameter("k").valid_if("k",
                                            [](const Problem& p) { return p.scalar("k") > 0; })})
        CHECK(Operator(declaration).mistakes.empty());
}
