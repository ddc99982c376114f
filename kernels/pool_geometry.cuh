// SPDX-License-Identifier: Apache-2.0
// The sizes that the pooling kernels take. The references have a geometry of their own.
#pragma once

#include "kernels/grids.cuh"
#include "reference/pool_axis.hpp"

/// One spatial axis.
struct DevicePoolAxis {
    long long in, window, stride, padding, dilation, out;

    /// Where window `o` begins; before the image where it is negative.
    __device__ long long begin(long long o) const { return o * stride - padding; }
    /// The windows that can have a pixel: from `first_over` to before `end_over`.
    __device__ long long first_over(long long pixel) const {
        const long long before = pixel + padding - dilation * (window - 1);
        return before <= 0 ? 0 : (before + stride - 1) / stride;
    }
    __device__ long long end_over(long long pixel) const {
        const long long after = (pixel + padding) / stride + 1;
        return after < out ? after : out;
    }
};

struct PoolGeometry {
    long long planes;
    DevicePoolAxis h, w;

    __host__ __device__ long long pixels() const { return planes * h.in * w.in; }
    __host__ __device__ long long outputs() const { return planes * h.out * w.out; }
};

/// `y` is y or dy: its last two sizes are the output's.
template <class Call>
PoolGeometry pool_geometry(const Call& call, const gradverify::TensorView& y,
                           long long dilation_h = 1, long long dilation_w = 1) {
    const auto axis = [](const gradverify::PoolAxis& a, long long dilation, long long out) {
        return DevicePoolAxis{a.in, a.window, a.stride, a.padding, dilation, out};
    };
    return {call.n * call.c, axis(call.h, dilation_h, y.size(2)),
            axis(call.w, dilation_w, y.size(3))};
}
