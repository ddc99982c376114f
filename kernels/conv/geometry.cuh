// SPDX-License-Identifier: Apache-2.0
// The numbers that conv's general kernels need, as they pass to the device. Written for the
// kernels alone: the reference has its own.
#pragma once

#include "kernels/grids.cuh"
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

}  // namespace gradverify::conv
