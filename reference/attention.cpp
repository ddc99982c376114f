// SPDX-License-Identifier: Apache-2.0
// The operator attention. The gradients are written by hand, from the o and lse that a kernel
// takes, and checked against the derived ones. Elements of a head lie side by side, one at least:
// to find each by its indices would take longer than to multiply it.
#include <cmath>

#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

/// A row of the weights: a query of one head of one sample, and the keys that it sees.
struct Row {
    std::int64_t sample, query, head, keys;
};

template <class T, class Function>
void for_each_row(const ForwardCall<T>& call, const Function& function) {
    const std::int64_t queries = call.parameter("sq"), keys = call.parameter("sk");
    const bool is_causal = call.parameter("causal") == 1;
    for (std::int64_t b = 0; b < call.parameter("b"); ++b)
        for (std::int64_t i = 0; i < queries; ++i)
            for (std::int64_t h = 0; h < call.parameter("h"); ++h)
                function(Row{b, i, h, is_causal ? i + 1 + keys - queries : keys});
}

/// The product of a query's row of x and a key's row of y.
template <class T, class Rows>
T product(const Row& row, std::int64_t key, const Rows& x, const Rows& y) {
    const auto* const of_x = &x(row.sample, row.query, row.head, 0);
    const auto* const of_y = &y(row.sample, key, row.head, 0);
    T sum = 0.0;
    for (std::int64_t c = 0; c < x.size(3); ++c) sum += of_x[c] * of_y[c];
    return sum;
}

double root_of_width(const auto& call) {
    return std::sqrt(static_cast<double>(call.parameter("d")));
}

template <class T>
void forward(const ForwardCall<T>& call) {
    const auto q = call.input("q"), k = call.input("k"), v = call.input("v");
    const auto o = call.output("o"), lse = call.output("lse");
    const double root = root_of_width(call);
    for_each_row(call, [&](const Row& row) {
        const auto [b, i, h, keys] = row;
        std::vector<T> weights;
        for (std::int64_t j = 0; j < keys; ++j)
            weights.push_back(call.rounds("s", product<T>(row, j, q, k) / root));
        T largest = weights[0], sum = 0.0;
        for (const T& weight : weights) largest = max(largest, weight);
        for (T& weight : weights) sum += weight = exp(weight - largest);
        lse(b, h, i) = largest + log(sum);
        T* const of_o = &o(b, i, h, 0);
        for (std::int64_t j = 0; j < keys; ++j) {
            const T share = call.rounds("p", weights[static_cast<std::size_t>(j)]) / sum;
            const T* const of_v = &v(b, j, h, 0);
            for (std::int64_t c = 0; c < v.size(3); ++c) of_o[c] += share * of_v[c];
        }
    });
}

template <class T>
void backward(const ForwardCall<T>& call) {
    const auto q = call.input("q"), k = call.input("k"), v = call.input("v");
    const auto grad_o = call.input("do"), o = call.input("o"), lse = call.input("lse");
    const auto dq = call.output("dq"), dk = call.output("dk"), dv = call.output("dv");
    const double root = root_of_width(call);
    for_each_row(call, [&](const Row& row) {
        const auto [b, i, h, keys] = row;
        const T of_output = product<T>(row, i, grad_o, o);
        for (std::int64_t j = 0; j < keys; ++j) {
            const T weight = exp(call.rounds("s", product<T>(row, j, q, k) / root) - lse(b, h, i));
            const T grad_p = call.rounds("dp", product<T>(row, j, grad_o, v));
            const T grad_s = call.rounds("ds", weight * (grad_p - of_output));
            const T p = call.rounds("p", weight);
            const T *const of_q = &q(b, i, h, 0), *const of_k = &k(b, j, h, 0);
            const T* const of_grad_o = &grad_o(b, i, h, 0);
            T *const of_dq = &dq(b, i, h, 0), *const of_dk = &dk(b, j, h, 0);
            T* const of_dv = &dv(b, j, h, 0);
            for (std::int64_t c = 0; c < q.size(3); ++c) {
                of_dq[c] += grad_s * of_k[c];
                of_dk[c] += grad_s * of_q[c];
                of_dv[c] += p * of_grad_o[c];
            }
        }
    });
    for (const auto& gradient : {dq, dk})
        for (std::int64_t at = 0; at < gradient.elements(); ++at)
            gradient.flat(at) = gradient.flat(at) / root;
}

Operator describe() {
    return declare_operator("attention")
        .parameter("b", {.minimum = 0})
        .parameter("sq")
        .parameter("sk")
        .parameter("h")
        .parameter("d")
        .parameter("causal", {.default_value = 0, .minimum = 0, .maximum = 1})
        .valid_if("no more queries than keys where it is causal",
                  [](const Problem& p) {
                      return p.scalar("causal") == 0 || p.scalar("sq") <= p.scalar("sk");
                  })
        .separable_along("b")
        .separable_along("h")
        .input("q", {"b", "sq", "h", "d"}, numbers_between(-3.0, 3.0))
        .input("k", {"b", "sk", "h", "d"}, numbers_between(-3.0, 3.0))
        .input("v", {"b", "sk", "h", "d"})
        .output("o", {"b", "sq", "h", "d"})
        .saved("lse", {"b", "h", "sq"})
        .typical("sq", 1, 150)
        .typical("sk", 1, 150)
        .typical("d", 1, 64)
        .benchmark("b=4,sq=2048,sk=2048,h=16,d=64,causal=1")
        .work([](const Problem& p) {
            double products = 5.0;
            for (const char* size : {"b", "h", "sq", "sk", "d"})
                products *= static_cast<double>(p.scalar(size));
            return products;
        })
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        // Which of equal products is the largest changes nothing.
        .branches_decide()
        .gradient("backward", {"do", "q", "k", "v", "o", "lse"}, {"dq", "dk", "dv"},
                  []<class T>(const ForwardCall<T>& call) { backward(call); });
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
