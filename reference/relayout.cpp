// SPDX-License-Identifier: Apache-2.0
// The operator relayout: the identity. A kernel moves elements only where layouts differ.
#include "harness/declare_operator.hpp"
#include "reference/conv_orders.hpp"

namespace gradverify {
namespace {

Operator describe() {
    const auto sizes = [](const Problem& problem) {
        Sizes all{problem.scalar("n"), problem.scalar("c")};
        for (int i = 0; i < problem.rank(); ++i) all.push_back(problem.on_axis("in", i));
        return all;
    };
    return declare_operator("relayout")
        .parameter("n", {.minimum = 0})
        .parameter("c")
        .parameter({.name = "in", .kind = ParameterKind::per_axis, .carries_rank = true})
        .spatial_axes(1, 3)
        .separable_along("c")
        .separable_along("in_w")
        .separable_along("in_h")
        .input("x", sizes)
        .layouts("x", image_orders())
        .output("y", sizes)
        .layouts("y", image_orders())
        .sum_of_products({{"x"}})
        .reduction_length([](const Problem&) { return std::int64_t{1}; })
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            const auto y = call.output("y");
            for (std::int64_t i = 0; i < x.elements(); ++i) y.flat(i) = x.flat(i);
        })
        .gradient("grad_input", {"dy"}, {"dx"})
        .separable_along("n")
        .typical("n", 1, 4)
        .typical("c", 1, 64)
        .typical("in", 1, 32)
        .benchmark("n=128,c=128,in=71x71");
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
