// SPDX-License-Identifier: Apache-2.0
// The operator ctc_loss: minus the logarithm of the probability of all alignments of each sample's
// labels with its steps, blanks between them, from logits; PyTorch's, behind its log_softmax. A
// sample without an alignment has an infinite loss, or none with zero_infinity; no gradient.
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The logarithm of a sum of exponentials; NaN stands for a term that is not there.
template <class T>
T log_sum(const std::vector<T>& terms) {
    T sum = 0.0;
    double largest = -infinity;
    for (const T& term : terms)
        if (!isnan(term)) largest = std::max(largest, detached(term));
    for (const T& term : terms)
        if (!isnan(term)) sum += exp(term - largest);
    return largest > -infinity ? largest + log(sum) : not_a_number<T>();
}

/// States are one before all steps, then blanks and labels by turns.
template <class T>
T alignments(const ForwardCall<T>& call, std::int64_t n, std::int64_t first, std::int64_t behind) {
    const auto logits = call.input("logits");
    const auto targets = call.indices("targets");
    const auto symbol = [&](std::int64_t state) {
        return state % 2 == 1 ? call.parameter("blank") : targets(first + state / 2 - 1);
    };
    std::vector<T> states(2 * (behind - first) + 2, not_a_number<T>()), next;
    states[0] = 0.0;
    for (std::int64_t t = 0; t < call.indices("input_lengths")(n); ++t, states = next) {
        next.assign(states.size(), not_a_number<T>());
        const T all = log_sum<T>({&logits(t, n, 0), &logits(t, n, 0) + logits.size(2)});
        for (std::int64_t s = 1; s < std::ssize(states); ++s) {
            const bool skips = s == 2 || (s > 2 && symbol(s) != symbol(s - 2));
            const T before =
                log_sum<T>({states[s], states[s - 1], skips ? states[s - 2] : not_a_number<T>()});
            next[s] = before + (logits(t, n, symbol(s)) - all);
        }
    }
    return log_sum<T>({states.back(), states[states.size() - 2]});
}

Operator describe() {
    return declare_operator("ctc_loss")
        .parameter("t")
        .parameter("n")
        .parameter("c")
        .parameter("labels", {.minimum = 0})
        .parameter("blank", {.default_value = 0, .minimum = 0})
        .parameter("zero_infinity", {.default_value = 0, .minimum = 0, .maximum = 1})
        .valid_if("a blank among the classes",
                  [](const Problem& p) { return p.scalar("blank") < p.scalar("c"); })
        .input("logits", {"t", "n", "c"})
        .input("targets", {"labels"}, indices_below("c"))
        .input("target_offsets", {one_more_than("n")}, offsets_to("labels"))
        .input("input_lengths", {"n"}, lengths_up_to("t"))
        .padded("logits", "input_lengths", 0)
        .output("loss", {"n"})
        .typical("t", 1, 40)
        .typical("c", 1, 32)
        .typical("labels", 1, 20)
        .benchmark("t=512,n=32,c=128,labels=2048")
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto offsets = call.indices("target_offsets");
            const double none = call.parameter("zero_infinity") == 1 ? 0.0 : infinity;
            for (std::int64_t n = 0; n < call.parameter("n"); ++n) {
                const T sum = alignments(call, n, offsets(n), offsets(n + 1));
                call.output("loss")(n) = isnan(sum) ? T(none) : -sum;
            }
        })
        .gradient("backward", {"dloss", "logits", "targets", "target_offsets", "input_lengths"},
                  {"dlogits"});
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
