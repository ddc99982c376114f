// SPDX-License-Identifier: Apache-2.0
// The step that departs is named, where that can be told.
#include "properties/checking/departing_step.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "harness/numbers/autodiff/decisions.hpp"
#include "harness/testing/small_declarations.hpp"
#include "properties/tests/made_case.hpp"

namespace gradverify {

using namespace testing;

namespace {

const auto twice = []<class T>(const T& x) { return x + x; };

/// Doubles, where no branch is decided.
Operator undecided_operator() {
    Operator op = elementwise(twice, "undecided");
    op.passes[0].bounded_reference = [](const Problem&, Inputs<Bounded>, Outputs<Bounded>) {
        throw UndecidedComparison("a tie");
    };
    return op;
}

/// h = x w by the first step and y = 2 h by the second, a pass of this operator.
Operator chain_operator(bool is_exact, const std::string& second, bool has_steps = true) {
    const auto same = [](const Problem& problem) { return problem.print(); };
    std::vector<Step> steps;
    if (has_steps)
        steps = {{"product.forward", same, {{"a", "x"}, {"b", "w"}, {"y", "h"}}},
                 {second + ".forward", same, {{"x", "h"}, {"y", "y"}}}};
    OperatorDeclaration op = declare_operator("chain")
                                 .parameter("n")
                                 .input("x", {"n"})
                                 .input("w", {"n"})
                                 .saved("h", {"n"})
                                 .output("y", {"n"})
                                 .steps("forward", steps)
                                 .forward(by_element([](const auto& in, const auto& out) {
                                     out("h") = in("x") * in("w");
                                     out("y") = out("h") + out("h");
                                 }));
    if (is_exact) op.sum_of_products({{"x", "w"}});
    return op;
}

std::string said_of(const Operator& chain, const KernelDeclaration& kernel, const std::string& data,
                    double h, double y) {
    MadeCase made({chain, product(), elementwise(twice, "double"), undecided_operator()}, "forward",
                  kernel, "n=1:data=" + data);
    CallResult result;
    result.outputs = {{{1}, {h}}, {{1}, {y}}};
    return departing_step(made, result);
}

}  // namespace

TEST_CASE("the first step that departs is named, each held to what its operator is held to") {
    const Operator exact = chain_operator(true, "double"), smooth = chain_operator(false, "double"),
                   open = chain_operator(true, "undecided"), unknown = chain_operator(true, "lost");
    const KernelDeclaration usual;
    const std::string
        ints = "x[0]=3,w[0]=5",
        named = ": that kernel is wrong, was given another tensor, or its result was written over",
        first = "; the first tensor that departs is h, of step 1 of 2, product.forward" + named,
        second = "; the first tensor that departs is y, of step 2 of 2, double.forward" + named,
        none = "; no step departs by itself, so the operator's steps are not its reference",
        one_open = "; no step departs by itself, but 1 of 2 can't be decided";
    struct Line {
        const Operator& op;
        KernelDeclaration kernel;
        std::string data;
        double h, y;
        std::string said;
    };
    constexpr double within = 1 + 0x1p-25;
    const std::vector<Line> lines{
        {exact, usual, ints, 15, 30, none},
        {exact, usual, ints, 16, 31, first},
        {exact, usual, ints, 15, 31, second},
        // Exact where chain and step are exact, on integers.
        {exact, usual, ints, 15 * within, 30 * within, first},
        {smooth, usual, ints, 15 * within, 30 * within, none},
        {exact, usual, ints, 15, 30 * within, none},
        {exact, usual, "x[0]=0.3,w[0]=0.7", 0.21, 0.42, none},
        {open, usual, ints, 15, 31, one_open},
        {unknown, usual, ints, 15, 31, one_open},
        {open, usual, ints, 16, 31, first},
        // Rounded once more where a step's result is stored in less, and only there.
        {smooth, KernelDeclaration().storage(DType::f16).storage("h", DType::f16),
         "x[0]=1.001953125,w[0]=1.001953125", 1.00390625, 2.0078125, none},
        {smooth, usual, "x[0]=1.5,w[0]=1.25", 1.875 * (1 + 1.03 * 0x1p-24), 3.75, first}};
    for (const Line& line : lines) {
        CAPTURE(&line - lines.data());
        CHECK(said_of(line.op, line.kernel, line.data, line.h, line.y) == line.said);
    }
}

TEST_CASE("nothing is said where the buffers do not hold the results of steps") {
    const Operator chain = chain_operator(true, "double");
    const std::string data = "x[0]=3,w[0]=5";
    CHECK(said_of(chain_operator(true, "double", false), {}, data, 15, 31).empty());
    for (const KernelDeclaration& kernel :
         {KernelDeclaration().takes_mask(), KernelDeclaration().norm_wise(2),
          KernelDeclaration().adds_to_outputs()})
        CHECK(said_of(chain, kernel, data, 16, 31).empty());
}

}  // namespace gradverify
