// SPDX-License-Identifier: Apache-2.0
// The operators relayout, of images, and relayout_filter: the identity. That a kernel moves
// anything is a matter of the layouts alone.
#include "harness/declare_operator.hpp"
#include "reference/conv_orders.hpp"

namespace gradverify {
namespace {

/// What both are; `outer` and `channels` are the two parameters in front of the spatial axes.
OperatorDeclaration identity(const std::string& name, const std::string& outer,
                             const std::string& channels, const std::string& axis,
                             const std::vector<AxisOrder>& orders) {
    const auto sizes = [=](const Problem& problem) {
        Sizes all{problem.scalar(outer), problem.scalar(channels)};
        for (int i = 0; i < problem.rank(); ++i) all.push_back(problem.on_axis(axis, i));
        return all;
    };
    OperatorDeclaration op = declare_operator(name);
    op.parameter(outer, {.minimum = outer == "n" ? 0 : 1})
        .parameter(channels)
        .parameter({.name = axis, .kind = ParameterKind::per_axis, .carries_rank = true})
        .spatial_axes(1, 3)
        .separable_along(channels)
        .separable_along(axis + "_w")
        .separable_along(axis + "_h")
        .input("x", sizes)
        .layouts("x", orders)
        .output("y", sizes)
        .layouts("y", orders)
        .sum_of_products({{"x"}})
        .reduction_length([](const Problem&) { return std::int64_t{1}; })
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            const auto y = call.output("y");
            for (std::int64_t i = 0; i < x.elements(); ++i) y.flat(i) = x.flat(i);
        })
        .gradient("grad_input", {"dy"}, {"dx"});
    return op;
}

Operator describe_images() {
    return identity("relayout", "n", "c", "in", image_orders())
        .separable_along("n")
        .typical("n", 1, 4)
        .typical("c", 1, 64)
        .typical("in", 1, 32)
        .benchmark("n=128,c=128,in=71x71");
}

Operator describe_filters() {
    return identity("relayout_filter", "o", "i", "filter", filter_orders("o", "i"))
        .separable_along("o")
        .typical("o", 1, 64)
        .typical("i", 1, 64)
        .typical("filter", 1, 7)
        .benchmark("o=4096,i=4096,filter=3x3");
}

}  // namespace

GRADVERIFY_OPERATOR(describe_images);
GRADVERIFY_OPERATOR(describe_filters);

}  // namespace gradverify
