// SPDX-License-Identifier: Apache-2.0
// What maxpool and avgpool declare alike. Each decides by itself which windows an axis has.
#pragma once

#include <functional>
#include <numeric>
#include <vector>

#include "harness/declare_operator.hpp"

namespace gradverify {

inline Sizes pooled_image_sizes(const Problem& problem) {
    return {problem.scalar("n"), problem.scalar("c"), problem.on_axis("in", 0),
            problem.on_axis("in", 1)};
}

template <class Axis>
Sizes pooled_sizes(const Problem& problem) {
    return {problem.scalar("n"), problem.scalar("c"), Axis(problem, 0).windows(),
            Axis(problem, 1).windows()};
}

/// An operation on the scalar that records costs about as much as eight multiply-adds.
inline double pooling_work(const Problem& problem, const Sizes& outputs, double taps) {
    const auto product = [](const Sizes& sizes) {
        return std::accumulate(sizes.begin(), sizes.end(), 1.0, std::multiplies<double>());
    };
    return 32.0 * product(pooled_image_sizes(problem)) + product(outputs) * (32.0 + 8.0 * taps);
}

inline OperatorDeclaration declare_pooling(const char* name, const std::vector<const char*>& others,
                                           Sizes (*output_sizes)(const Problem&)) {
    const auto per_axis = [](const char* parameter) {
        return ParameterSpec{.name = parameter, .kind = ParameterKind::per_axis};
    };
    ParameterSpec in = per_axis("in"), padding = per_axis("padding");
    in.carries_rank = true;
    padding.default_value = padding.minimum = 0;
    padding.is_padding = true;
    OperatorDeclaration op = declare_operator(name);
    op.parameter("n", {.minimum = 0}).parameter("c").parameter(in);
    op.parameter(per_axis("window")).parameter(per_axis("stride"));
    for (const char* other : others) op.parameter(per_axis(other));
    op.parameter(padding).spatial_axes(2, 2).separable_along("n").separable_along("c");
    op.input("x", pooled_image_sizes).output("y", output_sizes);
    for (const auto& [parameter, most] :
         {std::pair{"n", 4}, {"c", 8}, {"in", 32}, {"window", 3}, {"stride", 3}})
        op.typical(parameter, 1, most);
    op.benchmark("n=64,c=64,in=112x112,window=2,stride=2");
    return op;
}

}  // namespace gradverify
