// SPDX-License-Identifier: Apache-2.0
// The layouts of images and filters. The names of two dimensions stand for one and three as well.
#pragma once

#include <string>
#include <vector>

#include "harness/operators/operator.hpp"

namespace gradverify {

/// The axes in `first`, then the spatial ones, then those in `last`.
inline std::vector<int> axes_then(std::vector<int> first, int rank, std::vector<int> last) {
    for (int axis = 2; axis < rank; ++axis) first.push_back(axis);
    first.insert(first.end(), last.begin(), last.end());
    return first;
}

/// Two axes, then the spatial ones: row-major.
inline std::vector<int> spatial_axes_last(int rank) { return axes_then({0, 1}, rank, {}); }

/// Orders of a tensor `n, channels, spatial`: nchw (ncw, ncdhw) and nhwc (nwc, ndhwc).
inline std::vector<AxisOrder> image_orders() {
    return {{"nchw", spatial_axes_last},
            {"nhwc", [](int rank) { return axes_then({0}, rank, {1}); }}};
}

/// Orders of a tensor with these names for its two axes before the spatial ones. For "o" and "i":
/// oihw, ohwi (KYXC) and hwio (RSCF).
inline std::vector<AxisOrder> filter_orders(const std::string& first, const std::string& second) {
    return {{first + second + "hw", spatial_axes_last},
            {first + "hw" + second, [](int rank) { return axes_then({0}, rank, {1}); }},
            {"hw" + second + first, [](int rank) { return axes_then({}, rank, {1, 0}); }}};
}
}  // namespace gradverify
