// SPDX-License-Identifier: Apache-2.0
// The numbers that conv's general kernels need, as they pass to the device. Written for the
// kernels alone: the reference has its own.
#pragma once

#include "reference/conv.hpp"

namespace gradverify::conv {

struct DeviceAxis {
    long long in, filter, stride, dilation, padding, out;
};

struct DeviceGeometry {
    long long n, c, k, group_c, group_k;
    DeviceAxis h, w;
};

/// `y` is y or dy: its last two sizes are the output's.
inline DeviceGeometry device_geometry(const Parameters& p, const TensorView& y) {
    const auto axis = [](const Axis& a, long long out) {
        return DeviceAxis{a.in, a.filter, a.stride, a.dilation, a.padding_left, out};
    };
    return {p.n,
            p.c,
            p.k,
            p.c / p.groups,
            p.k / p.groups,
            axis(p.h(), y.size(2)),
            axis(p.w(), y.size(3))};
}

/// Enough blocks for one thread each, but no more than a grid-stride loop needs to fill a GPU.
inline unsigned blocks_for(long long elements, int block_size) {
    const long long blocks = (elements + block_size - 1) / block_size;
    return static_cast<unsigned>(blocks < 65536 ? blocks : 65536);
}

}  // namespace gradverify::conv
