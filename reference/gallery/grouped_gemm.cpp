// SPDX-License-Identifier: Apache-2.0
// The operator grouped_gemm: the rows of a ragged batch, each times the matrix of its group, as the
// experts of a layer have them.
//
//   y[t,j] = sum over c of x[t,c] w[g,c,j],  offsets[g] <= t < offsets[g+1]
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

template <class T>
void forward(const ForwardCall<T>& call) {
    const auto offsets = call.indices("offsets");
    const auto x = call.input("x"), w = call.input("w");
    const auto y = call.output("y");
    for (std::int64_t g = 0; g < w.size(0); ++g)
        for (std::int64_t t = offsets(g); t < offsets(g + 1); ++t)
            for (std::int64_t c = 0; c < w.size(1); ++c)
                for (std::int64_t j = 0; j < w.size(2); ++j) y(t, j) += x(t, c) * w(g, c, j);
}

Operator describe() {
    return declare_operator("grouped_gemm")
        .parameter("total", {.minimum = 0})
        .parameter("groups")
        .parameter("k")
        .parameter("n")
        .separable_along("k")
        .separable_along("n")
        .input("x", {"total", "k"})
        .input("w", {"groups", "k", "n"})
        .input("offsets", {one_more_than("groups")}, offsets_to("total"))
        .output("y", {"total", "n"})
        .sum_of_products({{"x", "w"}})
        .work([](const Problem& p) {
            return static_cast<double>(p.scalar("total") + p.scalar("groups")) *
                   static_cast<double>(p.scalar("k")) * static_cast<double>(p.scalar("n"));
        })
        .typical("total", 1, 200)
        .typical("groups", 1, 8)
        .typical("k", 1, 72)
        .typical("n", 1, 72)
        .benchmark("total=8192,groups=8,k=2048,n=1024")
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        .gradient("grad_x", {"dy", "w", "offsets"}, {"dx"})
        .gradient("grad_w", {"dy", "x", "offsets"}, {"dw"});
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
