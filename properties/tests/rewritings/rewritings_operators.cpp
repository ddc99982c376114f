// SPDX-License-Identifier: Apache-2.0
// Operators whose kernels are often written by another formula: softmax over rows, and
// bent = tanh(x), bits = log(exp(x) + 1).
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

Operator softmax() {
    return declare_operator("rewritten_softmax")
        .parameter("rows", {.minimum = 0})
        .parameter("width")
        .input("x", {"rows", "width"})
        .output("y", {"rows", "width"})
        .typical("rows", 1, 8)
        .typical("width", 1, 32)
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), y = call.output("y");
            for (std::int64_t r = 0; r < x.size(0); ++r) {
                T largest = x(r, 0), sum = 0.0;
                for (std::int64_t j = 1; j < x.size(1); ++j) largest = max(largest, x(r, j));
                for (std::int64_t j = 0; j < x.size(1); ++j) sum += exp(x(r, j) - largest);
                for (std::int64_t j = 0; j < x.size(1); ++j) y(r, j) = exp(x(r, j) - largest) / sum;
            }
        });
}

Operator squash() {
    return declare_operator("rewritten_squash")
        .parameter("n")
        .input("x", {"n"})
        .output("bent", {"n"})
        .output("bits", {"n"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t i = 0; i < x.size(0); ++i) {
                call.output("bent")(i) = tanh(x(i));
                call.output("bits")(i) = log(exp(x(i)) + 1.0);
            }
        });
}

GRADVERIFY_OPERATOR(softmax);
GRADVERIFY_OPERATOR(squash);

}  // namespace
}  // namespace gradverify
