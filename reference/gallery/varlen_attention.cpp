// SPDX-License-Identifier: Apache-2.0
// The operator varlen_attention: sequences of different lengths packed behind each other, groups of
// query heads that share a key head, a causal mask, a sliding window, and scores with a soft cap.
//
//   s[i,j] = q[i,:] k[j,:] / sqrt(d), or softcap tanh(s / softcap)
//   p[i,j] = exp(s[i,j] - lse[i]),  o[i,:] = sum over j of p[i,j] v[j,:]
//
// The last query of a sequence is beside its last key. Where it is causal, a query sees no key
// behind that beside it; with a window it sees, to the left, the key beside it and the window - 1
// before. A query that sees no key has o = 0 and lse = -infinity.
#include <cmath>

#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

/// A query of one head, and the keys that it sees, of the head that it shares.
struct Row {
    std::int64_t query, head, key_head, first, end;
};

template <class T, class Function>
void for_each_row(const ForwardCall<T>& call, const Function& function) {
    const auto queries = call.indices("cu_seqlens_q"), keys = call.indices("cu_seqlens_k");
    const std::int64_t group = call.parameter("group"), window = call.parameter("window");
    for (std::int64_t s = 0; s < call.parameter("seqs"); ++s)
        for (std::int64_t i = queries(s); i < queries(s + 1); ++i) {
            const std::int64_t beside = keys(s + 1) - (queries(s + 1) - i);
            const auto first = window == 0 ? keys(s) : std::max(keys(s), beside - window + 1);
            const auto end = call.parameter("causal") == 1 ? beside + 1 : keys(s + 1);
            for (std::int64_t h = 0; h < call.parameter("hk") * group; ++h)
                function(Row{i, h, h / group, first, end});
        }
}

template <class T, class Rows>
T product(const Row& row, std::int64_t key, const Rows& x, const Rows& y) {
    T sum = 0.0;
    for (std::int64_t c = 0; c < x.size(2); ++c)
        sum += x(row.query, row.head, c) * y(key, row.key_head, c);
    return sum;
}

/// The score, and its derivative by the scaled product.
template <class T>
struct Score {
    T value, slope;
};

template <class T>
Score<T> score(const ForwardCall<T>& call, const Row& row, std::int64_t key) {
    const T s = product<T>(row, key, call.input("q"), call.input("k")) /
                std::sqrt(static_cast<double>(call.parameter("d")));
    const auto cap = static_cast<double>(call.parameter("softcap"));
    if (cap == 0.0) return {s, T(1.0)};
    const T bent = tanh(s / cap);
    return {T(cap * bent), T(1.0 - bent * bent)};
}

template <class T>
void forward(const ForwardCall<T>& call) {
    const auto v = call.input("v"), o = call.output("o"), lse = call.output("lse");
    for_each_row(call, [&](const Row& row) {
        std::vector<T> weights;
        for (std::int64_t j = row.first; j < row.end; ++j)
            weights.push_back(score(call, row, j).value);
        if (weights.empty()) return void(lse(row.head, row.query) = T(-INFINITY));
        T largest = weights[0], sum = 0.0;
        for (const T& weight : weights) largest = max(largest, weight);
        for (T& weight : weights) sum += weight = exp(weight - largest);
        lse(row.head, row.query) = largest + log(sum);
        for (std::int64_t j = row.first; j < row.end; ++j) {
            const T share =
                call.rounds("p", weights[static_cast<std::size_t>(j - row.first)]) / sum;
            for (std::int64_t c = 0; c < v.size(2); ++c)
                o(row.query, row.head, c) += share * v(j, row.key_head, c);
        }
    });
}

/// From the o and lse that a kernel takes.
template <class T>
void backward(const ForwardCall<T>& call) {
    const auto q = call.input("q"), k = call.input("k"), v = call.input("v");
    const auto grad_o = call.input("do"), o = call.input("o"), lse = call.input("lse");
    const auto dq = call.output("dq"), dk = call.output("dk"), dv = call.output("dv");
    const double root = std::sqrt(static_cast<double>(call.parameter("d")));
    for_each_row(call, [&](const Row& row) {
        const auto [i, h, hk, first, end] = row;
        T of_output = 0.0;
        for (std::int64_t c = 0; c < q.size(2); ++c) of_output += grad_o(i, h, c) * o(i, h, c);
        for (std::int64_t j = first; j < end; ++j) {
            const auto [s, slope] = score(call, row, j);
            const T weight = exp(s - lse(h, i));
            const T grad_p = call.rounds("dp", product<T>(row, j, grad_o, v));
            const T grad_s = call.rounds("ds", weight * (grad_p - of_output) * slope);
            const T p = call.rounds("p", weight);
            for (std::int64_t c = 0; c < q.size(2); ++c) {
                dq(i, h, c) += grad_s * k(j, hk, c) / root;
                dk(j, hk, c) += grad_s * q(i, h, c) / root;
                dv(j, hk, c) += p * grad_o(i, h, c);
            }
        }
    });
}

Sizes query_sizes(const Problem& p) {
    return {p.scalar("total_q"), p.scalar("hk") * p.scalar("group"), p.scalar("d")};
}
Sizes lse_sizes(const Problem& p) {
    return {p.scalar("hk") * p.scalar("group"), p.scalar("total_q")};
}

Operator describe() {
    return declare_operator("varlen_attention")
        .parameter("seqs")
        .parameter("total_q", {.minimum = 0})
        .parameter("total_k", {.minimum = 0})
        .parameter("hk")
        .parameter("group")
        .parameter("d")
        .parameter("causal", {.default_value = 0, .minimum = 0, .maximum = 1})
        .parameter("window", {.default_value = 0, .minimum = 0})
        .parameter("softcap", {.default_value = 0, .minimum = 0, .maximum = 64})
        .separable_along("hk")
        .input("q", query_sizes, numbers_between(-3.0, 3.0))
        .input("k", {"total_k", "hk", "d"}, numbers_between(-3.0, 3.0))
        .input("v", {"total_k", "hk", "d"})
        .input("cu_seqlens_q", {one_more_than("seqs")}, offsets_to("total_q"))
        .input("cu_seqlens_k", {one_more_than("seqs")}, offsets_to("total_k"))
        .output("o", query_sizes)
        .saved("lse", lse_sizes)
        .typical("seqs", 1, 8)
        .typical("total_q", 1, 150)
        .typical("total_k", 1, 150)
        .typical("group", 1, 4)
        .typical("d", 1, 64)
        .typical("window", 0, 64)
        .typical("softcap", 0, 8)
        .benchmark("seqs=8,total_q=8192,total_k=8192,hk=4,group=4,d=64,causal=1")
        .work([](const Problem& p) {
            double products = 5.0;
            for (const char* size : {"hk", "group", "total_q", "total_k", "d"})
                products *= static_cast<double>(p.scalar(size));
            return products;
        })
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        .branches_decide()
        .gradient("backward", {"do", "q", "k", "v", "o", "lse", "cu_seqlens_q", "cu_seqlens_k"},
                  {"dq", "dk", "dv"}, []<class T>(const ForwardCall<T>& call) { backward(call); });
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
