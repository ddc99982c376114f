// SPDX-License-Identifier: Apache-2.0
// The operators moe_permute and moe_combine: each token's row is copied to its k experts' rows,
// which lie sorted by expert, and the experts' results are summed by the token's weights. A slot is
// a choice j of a token t, t k + j; order[r] is the slot of row r.
//
//   moe_permute: y[r] = x[order[r] / k]
//   moe_combine: y[t] = sum over j of weight[t,j] x[the row whose slot is t k + j]
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

OperatorDeclaration moe(const char* name) {
    return declare_operator(name)
        .parameter("slots", {.minimum = 0})
        .parameter("k")
        .parameter("width")
        .where("slots", multiple_of("k"))
        .separable_along("width")
        .typical("slots", 1, 64)
        .typical("k", 1, 8)
        .typical("width", 1, 64)
        .benchmark("slots=65536,k=8,width=4096");
}

std::int64_t tokens(const Problem& p) { return p.scalar("slots") / p.scalar("k"); }
Sizes rows_of_tokens(const Problem& p) { return {tokens(p), p.scalar("width")}; }

Operator moe_permute() {
    return moe("moe_permute")
        .input("x", rows_of_tokens)
        .input("order", {"slots"}, permutation_of("slots"))
        .output("y", {"slots", "width"})
        .sum_of_products({{"x"}})
        .reduction_length([](const Problem& p) { return p.scalar("k"); })
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            const auto y = call.output("y");
            const auto order = call.indices("order");
            for (std::int64_t r = 0; r < y.size(0); ++r)
                for (std::int64_t i = 0; i < y.size(1); ++i)
                    y(r, i) = x(order(r) / call.parameter("k"), i);
        })
        .gradient("grad_x", {"dy", "order"}, {"dx"});
}

Operator moe_combine() {
    return moe("moe_combine")
        .input("x", {"slots", "width"})
        .input("weight", [](const Problem& p) { return Sizes{tokens(p), p.scalar("k")}; })
        .input("order", {"slots"}, permutation_of("slots"))
        .output("y", rows_of_tokens)
        .sum_of_products({{"x", "weight"}})
        .reduction_length(
            [](const Problem& p) { return std::max(p.scalar("k"), p.scalar("width")); })
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), weight = call.input("weight");
            const auto y = call.output("y");
            const auto order = call.indices("order");
            for (std::int64_t r = 0; r < x.size(0); ++r)
                for (std::int64_t i = 0; i < x.size(1); ++i)
                    y(order(r) / weight.size(1), i) += weight.flat(order(r)) * x(r, i);
        });
}

GRADVERIFY_OPERATOR(moe_permute);
GRADVERIFY_OPERATOR(moe_combine);

}  // namespace
}  // namespace gradverify
