// SPDX-License-Identifier: Apache-2.0
// The sizes that conv's general kernels take. The reference has a geometry of its own.
#pragma once

#include "kernels/grids.cuh"
#include "reference/conv.hpp"

namespace gradverify::conv {

/// Positions of a filter along an axis.
template <class Axis>
long long positions_along(const Axis& axis) {
    const long long padded = axis.in + axis.padding_left + axis.padding_right;
    const long long reach = (axis.filter - 1) * axis.dilation + 1;
    return padded < reach ? 0 : (padded - reach) / axis.stride + 1;
}

struct DeviceAxis {
    long long in, filter, stride, dilation, padding, out;

    /// The pixel that an output reads through a tap; negative where there is none.
    __device__ long long pixel(long long output, long long tap) const {
        const long long at = output * stride + tap * dilation - padding;
        return at < in ? at : -1;
    }
    /// The output that reads a pixel through a tap, or -1.
    __device__ long long output(long long pixel, long long tap) const {
        const long long shifted = pixel + padding - tap * dilation;
        if (shifted < 0 || shifted % stride != 0) return -1;
        return shifted / stride < out ? shifted / stride : -1;
    }
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
