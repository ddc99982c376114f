// SPDX-License-Identifier: Apache-2.0
// The operators cross_entropy and linear_cross_entropy: the mean over the rows whose label is not
// ignored (-1) of
//
//   lse - (1 - smoothing) x[label] - smoothing (mean over j of x[j]) + z_loss lse^2,
//   lse = log of the sum over j of exp(x[j])
//
// where x is given, or is the product of hidden states and a vocabulary's rows. The gradient comes
// with the loss, as of an upstream gradient 1, or later.
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

/// What of a row of logits is added to the loss, and its lse.
template <class T>
std::pair<T, T> loss_of_row(const ForwardCall<T>& call, const std::vector<T>& x,
                            std::int64_t label) {
    T largest = x[0], sum = 0.0, all = 0.0;
    for (const T& element : x) largest = max(largest, element);
    for (const T& element : x) sum += exp(element - detached(largest)), all += element;
    const T lse = detached(largest) + log(sum), smoothing = call.attribute("smoothing");
    if (label < 0) return std::pair<T, T>(T(0.0), lse);
    const T loss = lse - (1.0 - smoothing) * x[static_cast<std::size_t>(label)] -
                   smoothing * all / static_cast<double>(x.size()) +
                   call.attribute("z_loss") * lse * lse;
    return std::pair<T, T>(loss, lse);
}

/// The rows that are not ignored, at least 1.
template <class T>
double rows_that_count(const ForwardCall<T>& call) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < call.parameter("n"); ++i) count += call.indices("labels")(i) >= 0;
    return static_cast<double>(std::max<std::int64_t>(count, 1));
}

/// The loss of rows that `row(i)` gives; `saved(i, lse)` takes what is saved of each.
template <class T>
void loss_of_rows(const ForwardCall<T>& call, const auto& row, const auto& saved) {
    T sum = 0.0;
    for (std::int64_t i = 0; i < call.parameter("n"); ++i) {
        const auto [loss, lse] = loss_of_row<T>(call, row(i), call.indices("labels")(i));
        sum += loss;
        saved(i, lse);
    }
    call.output("loss")() = sum / rows_that_count(call);
}

/// A label below v, or -1 for a row that is ignored.
Holds labels() {
    Holds holds = indices_below("v");
    holds.domain = [](const Problem& p) {
        return ValueDomain{-1.0, static_cast<double>(p.scalar("v")) - 1.0};
    };
    return holds;
}

OperatorDeclaration of_labels(const char* name) {
    return declare_operator(name)
        .parameter("n", {.minimum = 0})
        .parameter("v")
        .attribute("smoothing", {0.0, 0.125})
        .attribute("z_loss", {0.0, 0.0009765625})
        .input("labels", {"n"}, labels())
        .output("loss", {})
        // Which of equal logits is the largest changes nothing.
        .branches_decide()
        .typical("n", 1, 16)
        .typical("v", 1, 300);
}

Operator of_logits() {
    return of_labels("cross_entropy")
        .input("logits", {"n", "v"})
        .saved("lse", {"n"})
        .benchmark("n=4096,v=32768")
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto logits = call.input("logits");
            const auto row = [&](std::int64_t i) {
                return std::vector<T>(&logits(i, 0), &logits(i, 0) + logits.size(1));
            };
            loss_of_rows(call, row, [&](auto i, const T& lse) { call.output("lse")(i) = lse; });
        })
        .gradient("backward", {"dloss", "logits", "labels", "lse"}, {"dlogits"})
        .gradient("fused", {"logits", "labels"}, {"loss", "dlogits"});
}

Operator of_hidden_states() {
    return of_labels("linear_cross_entropy")
        .parameter("d")
        .input("x", {"n", "d"})
        .input("w", {"v", "d"}, numbers_between(-1.0, 1.0))
        .typical("d", 1, 32)
        .benchmark("n=2048,v=32768,d=1024")
        .work([](const Problem& p) {
            return 3.0 * static_cast<double>(p.scalar("n") * p.scalar("v") * p.scalar("d"));
        })
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), w = call.input("w");
            const auto row = [&](std::int64_t i) {
                std::vector<T> logits(static_cast<std::size_t>(w.size(0)), T(0.0));
                for (std::int64_t j = 0; j < w.size(0); ++j)
                    for (std::int64_t c = 0; c < w.size(1); ++c)
                        logits[static_cast<std::size_t>(j)] += x(i, c) * w(j, c);
                return logits;
            };
            loss_of_rows(call, row, [](std::int64_t, const T&) {});
        })
        .gradient("fused", {"x", "w", "labels"}, {"loss", "dx", "dw"});
}

GRADVERIFY_OPERATOR(of_logits);
GRADVERIFY_OPERATOR(of_hidden_states);

}  // namespace
}  // namespace gradverify
