// SPDX-License-Identifier: Apache-2.0
// Operators of padded batches, for the tests: row sums with the length of each row, and a loss that
// gives its gradient in the same call.
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

/// y[b,t] = x[b,0] + ... + x[b,t] for the first lengths[b] of a row.
Operator running_sum() {
    return declare_operator("running_sum")
        .parameter("batch")
        .parameter("length")
        .input("x", {"batch", "length"})
        .input("lengths", {"batch"}, lengths_up_to("length"))
        .output("y", {"batch", "length"})
        .padded("x", "lengths")
        .padded("y", "lengths")
        .sum_of_products({{"x"}})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), y = call.output("y");
            for (std::int64_t b = 0; b < x.size(0); ++b) {
                T sum = 0.0;
                for (std::int64_t t = 0; t < call.indices("lengths")(b); ++t) {
                    sum += x(b, t);
                    y(b, t) = sum;
                }
            }
        });
}

/// loss = sum of w (x - target)^2; its gradient comes with it.
Operator loss_with_gradient() {
    return declare_operator("loss_with_gradient")
        .parameter("n")
        .attribute("w", {1.0, 0.5})
        .input("x", {"n"})
        .input("target", {"n"}, constant())
        .output("loss", {})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), target = call.input("target");
            for (std::int64_t i = 0; i < x.size(0); ++i) {
                const T difference = x(i) - target(i);
                call.output("loss")() += call.attribute("w") * difference * difference;
            }
        })
        .gradient("fused", {"x", "target"}, {"loss", "dx"});
}

GRADVERIFY_OPERATOR(running_sum);
GRADVERIFY_OPERATOR(loss_with_gradient);

}  // namespace
}  // namespace gradverify
