// SPDX-License-Identifier: Apache-2.0
// The parameters of a pooling operator on one spatial axis. Holds no index arithmetic: a kernel
// that borrowed the reference's geometry would share its mistakes.
#pragma once

#include "harness/pass.hpp"

namespace gradverify {

struct PoolAxis {
    std::int64_t in = 1;      ///< image size
    std::int64_t window = 1;  ///< window size
    std::int64_t stride = 1;
    std::int64_t padding = 0;  ///< on either side
};

/// **Ranges** axis 0 is the height, 1 the width.
template <class PoolPass>
PoolAxis pool_axis(const PoolPass& pass, int axis) {
    return {.in = pass.size("in", axis),
            .window = pass.size("window", axis),
            .stride = pass.size("stride", axis),
            .padding = pass.size("padding", axis)};
}

}  // namespace gradverify
