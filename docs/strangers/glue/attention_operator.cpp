// SPDX-License-Identifier: Apache-2.0
// Attention, softmax(q k^T / sqrt(d)) v for each head, with the logarithm of each row's sum saved.
// `causal`: the last query sees all keys, each one before it a key less.
#include <cmath>

#include "harness/declare_operator.hpp"

using namespace gradverify;

/// How many keys query i sees.
template <class T>
static std::int64_t keys_of(const ForwardCall<T>& call, std::int64_t i) {
    const std::int64_t queries = call.parameter("sq"), keys = call.parameter("sk");
    return call.parameter("causal") == 1 ? i + 1 + keys - queries : keys;
}

template <class T>
static void row(const ForwardCall<T>& call, std::int64_t b, std::int64_t i, std::int64_t h) {
    const auto q = call.input("q"), k = call.input("k"), v = call.input("v");
    const auto o = call.output("o"), lse = call.output("lse");
    const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(3)));
    const std::int64_t keys = keys_of(call, i);
    const auto logit = [&](std::int64_t j) {
        T sum = 0.0;
        for (std::int64_t c = 0; c < q.size(3); ++c) sum += q(b, i, h, c) * k(b, j, h, c);
        return sum * scale;
    };
    T largest = logit(0), sum = 0.0;
    for (std::int64_t j = 1; j < keys; ++j) largest = max(largest, logit(j));
    for (std::int64_t j = 0; j < keys; ++j) sum += exp(logit(j) - largest);
    lse(b, h, i) = largest + log(sum);
    for (std::int64_t j = 0; j < keys; ++j) {
        const T weight = exp(logit(j) - largest) / sum;
        for (std::int64_t c = 0; c < q.size(3); ++c) o(b, i, h, c) += weight * v(b, j, h, c);
    }
}

/// From o and lse, as the kernels have them: what these were rounded to is then no error of theirs.
template <class T>
static void backward_row(const ForwardCall<T>& call, std::int64_t b, std::int64_t i,
                         std::int64_t h) {
    const auto q = call.input("q"), k = call.input("k"), v = call.input("v");
    const auto o = call.input("o"), grad = call.input("do"), lse = call.input("lse");
    const auto dq = call.output("dq"), dk = call.output("dk"), dv = call.output("dv");
    const std::int64_t size = q.size(3);
    const double scale = 1.0 / std::sqrt(static_cast<double>(size));
    T of_row = 0.0;
    for (std::int64_t c = 0; c < size; ++c) of_row += grad(b, i, h, c) * o(b, i, h, c);
    for (std::int64_t j = 0; j < keys_of(call, i); ++j) {
        T logit = 0.0, of_weight = 0.0;
        for (std::int64_t c = 0; c < size; ++c) {
            logit += q(b, i, h, c) * k(b, j, h, c);
            of_weight += grad(b, i, h, c) * v(b, j, h, c);
        }
        const T weight = exp(logit * scale - lse(b, h, i));
        const T of_logit = weight * (of_weight - of_row);
        for (std::int64_t c = 0; c < size; ++c) {
            dv(b, j, h, c) += weight * grad(b, i, h, c);
            dq(b, i, h, c) += of_logit * k(b, j, h, c) * scale;
            dk(b, j, h, c) += of_logit * q(b, i, h, c) * scale;
        }
    }
}

template <class T, class Row>
static void for_each_row(const ForwardCall<T>& call, const Row& row) {
    const auto q = call.input("q");
    for (std::int64_t b = 0; b < q.size(0); ++b)
        for (std::int64_t i = 0; i < q.size(1); ++i)
            for (std::int64_t h = 0; h < q.size(2); ++h) row(call, b, i, h);
}

static Operator describe() {
    return declare_operator("attention")
        .parameter("b")
        .parameter("sq")
        .parameter("sk")
        .parameter("h")
        .parameter("d", {.default_value = 8, .minimum = 8, .maximum = 256})
        .parameter("causal", {.default_value = 0, .minimum = 0, .maximum = 1})
        .where("d", multiple_of(8))
        .valid_if("no more queries than keys where it is causal",
                  [](const Problem& p) {
                      return p.scalar("causal") == 0 || p.scalar("sq") <= p.scalar("sk");
                  })
        .input("q", {"b", "sq", "h", "d"}, numbers_between(-2.0, 2.0))
        .input("k", {"b", "sk", "h", "d"}, numbers_between(-2.0, 2.0))
        .input("v", {"b", "sk", "h", "d"})
        .output("o", {"b", "sq", "h", "d"})
        .saved("lse", {"b", "h", "sq"})
        .typical("sq", 1, 150)
        .typical("sk", 1, 150)
        .work([](const Problem& p) {
            return 5.0 * p.scalar("b") * p.scalar("h") * p.scalar("sq") * p.scalar("sk") *
                   p.scalar("d");
        })
        .forward([]<class T>(const ForwardCall<T>& call) { for_each_row(call, row<T>); })
        .gradient("backward", {"do", "q", "k", "v", "o", "lse"}, {"dq", "dk", "dv"},
                  []<class T>(const ForwardCall<T>& call) { for_each_row(call, backward_row<T>); });
}
GRADVERIFY_OPERATOR(describe);
