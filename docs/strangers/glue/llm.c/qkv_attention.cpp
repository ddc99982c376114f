// SPDX-License-Identifier: Apache-2.0
// Causal attention of queries, keys and values in one tensor, and its scaled products alone.
#include <cmath>

#include "harness/declare_operator.hpp"

using namespace gradverify;

/// The product of a query and a key over the root of the head's size.
template <class T>
static T product(const auto& x, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    T sum = 0.0;
    for (std::int64_t c = 0; c < x.size(4); ++c) sum += x(b, i, 0, h, c) * x(b, j, 1, h, c);
    return sum / std::sqrt(static_cast<double>(x.size(4)));
}
static void for_each_query(const auto& x, const auto& function) {
    for (std::int64_t b = 0; b < x.size(0); ++b)
        for (std::int64_t h = 0; h < x.size(3); ++h)
            for (std::int64_t i = 0; i < x.size(1); ++i) function(b, h, i);
}

template <class T>
static void attend(const ForwardCall<T>& call) {
    const auto x = call.input("qkv");
    const auto o = call.output("o");
    for_each_query(x, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
        std::vector<T> weights;
        for (std::int64_t j = 0; j <= i; ++j) weights.push_back(product<T>(x, b, h, i, j));
        T largest = weights[0], sum = 0.0;
        for (const T& weight : weights) largest = max(largest, weight);
        for (T& weight : weights) sum += weight = exp(weight - largest);
        for (std::int64_t j = 0; j <= i; ++j)
            for (std::int64_t c = 0; c < x.size(4); ++c)
                o(b, i, h, c) += weights[static_cast<std::size_t>(j)] / sum * x(b, j, 2, h, c);
    });
}
template <class T>
static void multiply(const ForwardCall<T>& call) {
    const auto x = call.input("qkv");
    const auto preatt = call.output("preatt");
    for_each_query(x, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
        for (std::int64_t j = 0; j <= i; ++j) preatt(b, h, i, j) = product<T>(x, b, h, i, j);
    });
}
static double products(const Problem& p) {
    double all = 4.0;
    for (const char* size : {"b", "t", "t", "h", "d"}) all *= static_cast<double>(p.scalar(size));
    return all;
}
static OperatorDeclaration of_qkv(std::string name) {
    return declare_operator(std::move(name))
        .parameter("b")
        .parameter("t")
        .parameter("h")
        .parameter("d")
        .input("qkv", {"b", "t", 3, "h", "d"}, numbers_between(-3.0, 3.0))
        .work(products);
}

static Operator attention() {
    return of_qkv("qkv_attention")
        .output("o", {"b", "t", "h", "d"})
        .typical("b", 1, 3)
        .typical("t", 1, 100)
        .typical("h", 1, 4)
        .typical("d", 1, 64)
        .branches_decide()
        .forward([]<class T>(const ForwardCall<T>& call) { attend(call); });
}
static Operator lower_products() {
    return of_qkv("qk_products")
        .output("preatt", {"b", "h", "t", "t"})
        .typical("d", 1, 64)
        .forward([]<class T>(const ForwardCall<T>& call) { multiply(call); });
}
GRADVERIFY_OPERATOR(attention);
GRADVERIFY_OPERATOR(lower_products);
