// SPDX-License-Identifier: Apache-2.0
// Along what problems of operators that slide a window over images may be made of copies: samples,
// channels, and spatial axes on which no two windows share a pixel.
#pragma once

#include <string>
#include <vector>

#include "harness/operators/operator.hpp"

namespace gradverify {

/// On an axis where `are_apart` of the problem and the axis, outermost first.
inline std::vector<SeparableSpec> along_axes(bool (*are_apart)(const Problem&, int axis)) {
    std::vector<SeparableSpec> specs;
    int from_last = 0;
    for (const char* name : {"in_w", "in_h", "in_d"}) {
        ++from_last;
        specs.push_back({.name = name,
                         .parameters = {name},
                         .holds_if = [are_apart, from_last](const Problem& problem) {
                             return are_apart(problem, problem.rank() - from_last);
                         }});
    }
    return specs;
}

/// Samples; input and output channels where there are no groups; and groups. The bias of an output
/// that is summed over input channels would be counted twice: such a pass does not obey.
inline std::vector<SeparableSpec> along_channels() {
    const auto without_groups = [](const Problem& problem) {
        return problem.scalar("groups") == 1;
    };
    return {{.name = "n", .parameters = {"n"}},
            {.name = "groups", .parameters = {"c", "k", "groups"}},
            {.name = "k", .parameters = {"k"}, .holds_if = without_groups},
            {.name = "c", .parameters = {"c"}, .holds_if = without_groups}};
}

inline bool is_unpadded(const Problem& problem, int axis) {
    return problem.on_axis("padding", axis, Side::left) == 0 &&
           problem.on_axis("padding", axis, Side::right) == 0;
}

/// How far a window of that parameter reaches on an axis.
inline std::int64_t reach_of(const Problem& problem, const char* window, int axis) {
    return problem.on_axis("dilation", axis) * (problem.on_axis(window, axis) - 1) + 1;
}

}  // namespace gradverify
