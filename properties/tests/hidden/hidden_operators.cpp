// SPDX-License-Identifier: Apache-2.0
// Three small operators of one input, each with a parameter beside its size, for kernels whose
// mistake hides: strides, a factor, and a turn.
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

Operator strided() {
    return declare_operator("strided")
        .parameter("n")
        .parameter("step")
        .input("x",
               {[](const Problem& p) { return Sizes{(p.scalar("n") - 1) * p.scalar("step") + 1}; }})
        .output("y", {"n"})
        .sum_of_products({{"x"}})
        .forward([]<class T>(const ForwardCall<T>& call) {
            for (std::int64_t i = 0; i < call.output("y").size(0); ++i)
                call.output("y")(i) = 3.0 * call.input("x")(i * call.parameter("step"));
        });
}

Operator squared() {
    return declare_operator("squared")
        .parameter("n")
        .attribute("factor", {1.0, -0.5, 2.0})
        .input("x", {"n"})
        .output("y", {"n"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            for (std::int64_t i = 0; i < call.output("y").size(0); ++i)
                call.output("y")(i) =
                    T(call.attribute("factor")) * call.input("x")(i) * call.input("x")(i);
        });
}

Operator turned() {
    return declare_operator("turned")
        .parameter("n")
        .parameter("step", {.default_value = 0, .minimum = 0})
        .input("x", {"n"})
        .output("y", {"n"})
        .sum_of_products({{"x"}})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto y = call.output("y");
            for (std::int64_t i = 0; i < y.size(0); ++i)
                y(i) = call.input("x")((i + call.parameter("step")) % y.size(0));
        });
}

GRADVERIFY_OPERATOR(strided);
GRADVERIFY_OPERATOR(squared);
GRADVERIFY_OPERATOR(turned);

}  // namespace
}  // namespace gradverify
