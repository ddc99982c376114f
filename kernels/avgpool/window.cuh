// SPDX-License-Identifier: Apache-2.0
// What a window of avgpool's kernels covers and counts on one axis. The reference has its own.
#pragma once

#include "kernels/pool_geometry.cuh"

/// The pixels of a window inside the image, and the axis's factor of the divisor.
struct AverageWindow {
    long long begin, end, counted;

    __device__ AverageWindow(const DevicePoolAxis& axis, long long o, bool include_pad)
        : begin(axis.begin(o)), end(begin + axis.window) {
        const long long end_of_padded = axis.in + axis.padding;
        counted = (end < end_of_padded ? end : end_of_padded) - begin;
        if (begin < 0) begin = 0;
        if (end > axis.in) end = axis.in;
        if (!include_pad) counted = end - begin;
    }
};
