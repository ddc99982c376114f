// SPDX-License-Identifier: Apache-2.0
// The operators scatter_add and scatter_amax: elements are reduced, along the middle axis, into the
// row that each one's index names, together with what was there. Many may name one row.
//
//   y[o,index[o,k,i],i] = x[o,index[o,k,i],i] + src[o,k,i], or the larger of the two
//
// A maximum's gradient is written by hand: all that are equal to it have equal shares.
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

template <class T>
void reduce(const ForwardCall<T>& call, const auto& combined) {
    const auto x = call.input("x"), src = call.input("src");
    const auto y = call.output("y");
    const auto index = call.indices("index");
    for (std::int64_t i = 0; i < y.elements(); ++i) y.flat(i) = x.flat(i);
    for (std::int64_t o = 0; o < src.size(0); ++o)
        for (std::int64_t k = 0; k < src.size(1); ++k)
            for (std::int64_t i = 0; i < src.size(2); ++i) {
                T& result = y(o, index(o, k, i), i);
                result = combined(result, src(o, k, i));
            }
}

template <class T>
void share_alike(const ForwardCall<T>& call) {
    const auto x = call.input("x"), src = call.input("src"), y = call.input("y");
    const auto grad = call.input("dy"), index = call.input("index");
    const std::int64_t k = src.size(1), inner = src.size(2);
    const auto result_of = [&](std::int64_t source) {
        return (source / (k * inner) * y.size(1) + index_of(index.flat(source))) * inner +
               source % inner;
    };
    std::vector<double> counts(static_cast<std::size_t>(y.elements()));
    const auto count = [&](std::int64_t r) -> double& {
        return counts[static_cast<std::size_t>(r)];
    };
    for (std::int64_t r = 0; r < y.elements(); ++r) count(r) = x.flat(r) == y.flat(r) ? 1.0 : 0.0;
    for (std::int64_t s = 0; s < src.elements(); ++s)
        if (src.flat(s) == y.flat(result_of(s))) count(result_of(s)) += 1.0;
    for (std::int64_t r = 0; r < y.elements(); ++r)
        if (x.flat(r) == y.flat(r)) call.output("dx").flat(r) = grad.flat(r) / count(r);
    for (std::int64_t s = 0; s < src.elements(); ++s)
        if (const std::int64_t r = result_of(s); src.flat(s) == y.flat(r))
            call.output("dsrc").flat(s) = grad.flat(r) / count(r);
}

OperatorDeclaration scatter(const char* name) {
    return declare_operator(name)
        .parameter("outer", {.minimum = 0})
        .parameter("rows")
        .parameter("k", {.minimum = 0})
        .parameter("inner")
        .separable_along("outer")
        .separable_along("inner")
        .input("x", {"outer", "rows", "inner"})
        .input("src", {"outer", "k", "inner"})
        .input("index", {"outer", "k", "inner"}, indices_below("rows"))
        .output("y", {"outer", "rows", "inner"})
        .reduction_length([](const Problem& p) { return p.scalar("k") + 1; })
        .typical("outer", 1, 4)
        .typical("rows", 1, 16)
        .typical("k", 1, 64)
        .typical("inner", 1, 16)
        .benchmark("outer=1,rows=8192,k=65536,inner=256");
}

Operator scatter_add() {
    return scatter("scatter_add")
        .sum_of_products({{"x"}, {"src"}})
        .forward([]<class T>(const ForwardCall<T>& call) {
            reduce(call, [](const T& a, const T& b) { return a + b; });
        })
        .gradient("backward", {"dy", "index"}, {"dx", "dsrc"});
}
Operator scatter_amax() {
    return scatter("scatter_amax")
        .forward([]<class T>(const ForwardCall<T>& call) {
            reduce(call, [](const T& a, const T& b) { return max(a, b); });
        })
        .piecewise_linear()
        .exact_if("at most two may be equal", [](const Problem& p) { return p.scalar("k") <= 1; })
        .branches_decide()
        .gradient("backward", {"dy", "x", "src", "index", "y"}, {"dx", "dsrc"},
                  []<class T>(const ForwardCall<T>& call) { share_alike(call); });
}

GRADVERIFY_OPERATOR(scatter_add);
GRADVERIFY_OPERATOR(scatter_amax);

}  // namespace
}  // namespace gradverify
