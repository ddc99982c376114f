// SPDX-License-Identifier: Apache-2.0
// The operator softmax_cross_entropy. The gradient is written by hand, from the saved
// probabilities, and checked against the derived one.
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

template <class T>
void forward(const ForwardCall<T>& call) {
    const auto logits = call.input("logits");
    const auto labels = call.indices("labels");
    const auto probs = call.output("probs");
    T& loss = call.output("loss")();
    const std::int64_t n = logits.size(0), v = logits.size(1);
    bool all_valid = true;
    for (std::int64_t i = 0; i < n; ++i) {
        T largest = logits(i, 0), total = 0.0;
        for (std::int64_t j = 1; j < v; ++j) largest = max(largest, logits(i, j));
        for (std::int64_t j = 0; j < v; ++j) total += exp(logits(i, j) - largest);
        for (std::int64_t j = 0; j < v; ++j) probs(i, j) = exp(logits(i, j) - largest) / total;
        if (labels(i) < 0 || labels(i) >= v)
            all_valid = false;
        else
            loss += (log(total) + (largest - logits(i, labels(i)))) / static_cast<double>(n);
    }
    if (n == 0 || !all_valid) loss = not_a_number<T>();
}

template <class T>
void backward(const ForwardCall<T>& call) {
    const auto probs = call.input("probs");
    const auto labels = call.indices("labels");
    const auto dlogits = call.output("dlogits");
    const T dloss = call.input("dloss")();
    const std::int64_t n = probs.size(0), v = probs.size(1);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < v; ++j) {
            if (labels(i) < 0 || labels(i) >= v)
                dlogits(i, j) = not_a_number<T>();
            else
                dlogits(i, j) =
                    (probs(i, j) - (j == labels(i) ? 1.0 : 0.0)) * (dloss / static_cast<double>(n));
        }
}

Operator describe() {
    return declare_operator("softmax_cross_entropy")
        .parameter("n", {.minimum = 0})
        .parameter("v")
        .input("logits", {"n", "v"})
        .input("labels", {"n"}, indices_below("v").or_invalid())
        .saved("probs", {"n", "v"})
        .output("loss", {})
        .typical("n", 1, 64)
        .typical("v", 1, 64)
        .benchmark("n=128,v=32000")
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        // Which of equal logits is the largest changes nothing.
        .branches_decide()
        .gradient("backward", {"dloss", "probs", "labels"}, {"dlogits"},
                  []<class T>(const ForwardCall<T>& call) { backward(call); });
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
