// SPDX-License-Identifier: Apache-2.0
// What products in tiles cost in barriers, for the generator's budget. All passes of conv and
// conv_transpose have one figure, as if each had the longest sum.
#pragma once

#include <algorithm>
#include <cstdint>

#include "harness/problems/problem.hpp"

namespace gradverify::conv {

/// A block's threads for each 16 terms of a sum; small results usually take four for an output.
inline std::int64_t threads_of_steps(const Problem& problem) {
    const std::int64_t n = problem.scalar("n"), groups = problem.scalar("groups");
    const std::int64_t c = problem.scalar("c") / groups, k = problem.scalar("k") / groups;
    std::int64_t taps = 1, pixels = n;
    for (int axis = 0; axis < problem.rank(); ++axis) {
        taps *= problem.on_axis("filter", axis);
        const std::int64_t size = problem.on_axis("in", axis) +
                                  problem.on_axis("padding", axis, Side::left) +
                                  problem.on_axis("padding", axis, Side::right);
        pixels *= std::max<std::int64_t>(size / problem.on_axis("stride", axis), 1);
    }
    const std::int64_t longest = std::max({pixels, c * taps, k * taps});
    return 16 * longest + groups * pixels * c * k * taps / 4;
}

}  // namespace gradverify::conv
