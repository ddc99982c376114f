// SPDX-License-Identifier: Apache-2.0
// The loss of each row, from probabilities, and from logits.
#include "harness/declare_operator.hpp"

using namespace gradverify;

static Operator from_probabilities() {
    return declare_operator("crossentropy")
        .parameter("rows")
        .parameter("v")
        .input("probs", {"rows", "v"}, probabilities())
        .input("targets", {"rows"}, indices_below("v"))
        .output("losses", {"rows"})
        .typical("rows", 1, 64)
        .typical("v", 1, 64)
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto probs = call.input("probs");
            const auto targets = call.indices("targets");
            for (std::int64_t i = 0; i < probs.size(0); ++i)
                call.output("losses")(i) = -log(probs(i, targets(i)));
        });
}
GRADVERIFY_OPERATOR(from_probabilities);

/// A row's largest logit, and the sum of the exponentials of all of them less the largest.
template <class T>
static std::pair<T, T> largest_and_sum(const auto& logits, std::int64_t row) {
    T largest = logits(row, 0), sum = 0.0;
    for (std::int64_t j = 1; j < logits.size(1); ++j) largest = max(largest, logits(row, j));
    for (std::int64_t j = 0; j < logits.size(1); ++j) sum += exp(logits(row, j) - largest);
    return {largest, sum};
}
template <class T>
static void forward(const ForwardCall<T>& call) {
    const auto logits = call.input("logits");
    const auto targets = call.indices("targets");
    const auto losses = call.output("losses"), probs = call.output("probs");
    for (std::int64_t i = 0; i < logits.size(0); ++i) {
        const auto [largest, sum] = largest_and_sum<T>(logits, i);
        for (std::int64_t j = 0; j < logits.size(1); ++j)
            probs(i, j) = exp(logits(i, j) - largest) / sum;
        losses(i) = -log(probs(i, targets(i)));
    }
}
template <class T>
static void from_saved(const ForwardCall<T>& call) {
    const auto probs = call.input("probs"), dlosses = call.input("dlosses");
    const auto targets = call.indices("targets");
    for (std::int64_t i = 0; i < probs.size(0); ++i)
        for (std::int64_t j = 0; j < probs.size(1); ++j)
            call.output("dlogits")(i, j) =
                (probs(i, j) - (j == targets(i) ? 1.0 : 0.0)) * dlosses(i);
}
template <class T>
static void fused(const ForwardCall<T>& call) {
    const auto logits = call.input("logits"), dlosses = call.input("dlosses");
    const auto targets = call.indices("targets");
    for (std::int64_t i = 0; i < logits.size(0); ++i) {
        const auto [largest, sum] = largest_and_sum<T>(logits, i);
        call.output("losses")(i) = -log(exp(logits(i, targets(i)) - largest) / sum);
        for (std::int64_t j = 0; j < logits.size(1); ++j)
            call.output("dlogits")(i, j) =
                (exp(logits(i, j) - largest) / sum - (j == targets(i) ? 1.0 : 0.0)) * dlosses(i);
    }
}

static Operator from_logits() {
    return declare_operator("crossentropy_softmax")
        .parameter("rows")
        .parameter("v")
        .input("logits", {"rows", "v"}, numbers_between(-20.0, 20.0))
        .input("targets", {"rows"}, indices_below("v"))
        .output("losses", {"rows"})
        .saved("probs", {"rows", "v"})
        .typical("rows", 1, 64)
        .typical("v", 1, 200)
        .branches_decide()
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        .gradient("backward", {"dlosses", "probs", "targets"}, {"dlogits"},
                  []<class T>(const ForwardCall<T>& call) { from_saved(call); })
        .gradient("fused", {"dlosses", "logits", "targets"}, {"dlogits", "losses"},
                  []<class T>(const ForwardCall<T>& call) { fused(call); });
}
GRADVERIFY_OPERATOR(from_logits);
