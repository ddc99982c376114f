// SPDX-License-Identifier: Apache-2.0
// The operator adamw: one step of the optimiser for many tensors, which lie behind each other.
// It has no gradient.
//
//   m' = beta1 m + (1 - beta1) g,  v' = beta2 v + (1 - beta2) g^2
//   p' = (1 - lr decay) p - lr (m' / (1 - beta1^t)) / (sqrt(v' / (1 - beta2^t)) + eps)
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

template <class T>
void forward(const ForwardCall<T>& call) {
    const auto param = call.input("param"), grad = call.input("grad");
    const auto exp_avg = call.output("new_exp_avg"), exp_avg_sq = call.output("new_exp_avg_sq");
    const auto offsets = call.indices("offsets"), step = call.indices("step");
    const T lr = call.attribute("lr"), decay = call.attribute("weight_decay");
    const T beta1 = call.attribute("beta1"), beta2 = call.attribute("beta2");
    for (std::int64_t tensor = 0; tensor < step.size(0); ++tensor) {
        const T steps(static_cast<double>(step(tensor)));
        const T correction1 = 1.0 - pow(beta1, steps), correction2 = 1.0 - pow(beta2, steps);
        for (std::int64_t i = offsets(tensor); i < offsets(tensor + 1); ++i) {
            exp_avg(i) = beta1 * call.input("exp_avg")(i) + (1.0 - beta1) * grad(i);
            exp_avg_sq(i) = beta2 * call.input("exp_avg_sq")(i) + (1.0 - beta2) * grad(i) * grad(i);
            const T denominator = sqrt(exp_avg_sq(i) / correction2) + call.attribute("eps");
            call.output("new_param")(i) =
                (1.0 - lr * decay) * param(i) - lr * (exp_avg(i) / correction1) / denominator;
        }
    }
}

Operator describe() {
    return declare_operator("adamw")
        .parameter("total", {.minimum = 0})
        .parameter("tensors")
        .attribute("lr", {0.001, 1.0})
        .attribute("beta1", {0.9, 0.5})
        .attribute("beta2", {0.999, 0.75})
        .attribute("eps", {1e-8, 0.1})
        .attribute("weight_decay", {0.01, 0.0, 0.5})
        .input("param", {"total"})
        .input("grad", {"total"})
        .input("exp_avg", {"total"})
        .input("exp_avg_sq", {"total"}, positive_numbers())
        .input("offsets", {one_more_than("tensors")}, offsets_to("total"))
        .input("step", {"tensors"}, whole_numbers(1, 100000))
        .output("new_param", {"total"})
        .output("new_exp_avg", {"total"})
        .output("new_exp_avg_sq", {"total"})
        .forward_alone()
        .typical("total", 1, 4096)
        .typical("tensors", 1, 8)
        .benchmark("total=134217728,tensors=300")
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); });
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
