// SPDX-License-Identifier: Apache-2.0
// The convolution that a transposed one is the gradient of, for tests that hold the two together.
#pragma once

#include <cstddef>
#include <string>

#include "harness/operators/operator.hpp"
#include "reference/conv_transpose.hpp"

namespace gradverify::testing {

/// The problem of `conv` whose gradient by the input is `transposed`'s forward pass.
inline Problem conv_twin_of(const Operator& transposed, const Problem& problem,
                            const Operator& conv) {
    const conv_transpose::Parameters p(problem);
    const Sizes y = transposed.sizes_of("y", problem);
    std::string text = "n=" + std::to_string(p.n) + ",c=" + std::to_string(p.k) +
                       ",k=" + std::to_string(p.c) + ",groups=" + std::to_string(p.groups);
    const auto list = [&](const char* name, auto value) {
        text += std::string(",") + name + "=";
        for (int axis = 0; axis < p.rank; ++axis)
            text += (axis > 0 ? "x" : "") + value(static_cast<std::size_t>(axis));
    };
    list("in", [&](std::size_t axis) { return std::to_string(y[axis + 2]); });
    list("filter", [&](std::size_t axis) { return std::to_string(p.axes[axis].filter); });
    list("stride", [&](std::size_t axis) { return std::to_string(p.axes[axis].stride); });
    list("dilation", [&](std::size_t axis) { return std::to_string(p.axes[axis].dilation); });
    list("padding", [&](std::size_t axis) {
        return std::to_string(p.axes[axis].padding_left) + "+" +
               std::to_string(p.axes[axis].padding_right);
    });
    return Problem::parse(conv.space, text);
}

}  // namespace gradverify::testing
