// SPDX-License-Identifier: Apache-2.0
// What the operators with a filter have in common: the names of their parameters, and how the sizes
// of a tensor are put together. What a size is, each decides by itself.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/operators/operator.hpp"

namespace gradverify {

inline std::vector<ParameterSpec> filter_parameters() {
    return {{.name = "n", .minimum = 0},
            {.name = "c"},
            {.name = "k"},
            {.name = "groups"},
            {.name = "in", .kind = ParameterKind::per_axis, .carries_rank = true},
            {.name = "filter", .kind = ParameterKind::per_axis},
            {.name = "stride", .kind = ParameterKind::per_axis},
            {.name = "dilation", .kind = ParameterKind::per_axis},
            {.name = "padding",
             .kind = ParameterKind::per_axis_pair,
             .default_value = 0,
             .minimum = 0,
             .is_padding = true}};
}

/// n, channels, then a size for each axis of the problem.
template <class Parameters, class SizeOn>
Sizes spatial_sizes(std::int64_t outer, std::int64_t channels, const Parameters& p,
                    SizeOn size_on) {
    Sizes sizes{outer, channels};
    for (int axis = 0; axis < p.rank; ++axis)
        sizes.push_back(size_on(p.axes[static_cast<std::size_t>(axis)]));
    return sizes;
}

/// A condition on a parameter.
inline Constraint on(std::string parameter, Condition condition) {
    condition.parameter = std::move(parameter);
    return condition;
}

}  // namespace gradverify
