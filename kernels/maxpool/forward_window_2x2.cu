// SPDX-License-Identifier: Apache-2.0
// maxpool.forward/window_2x2: windows of 2x2 side by side, as in most networks. A thread computes
// two neighbouring outputs from two float4 where rows are aligned so, else one.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/pool_geometry.cuh"
#include "reference/maxpool.hpp"

namespace {

struct Largest {
    float value;
    int at;

    // The first of equal ones, and the last NaN.
    __device__ void take(float pixel, int pixel_at) {
        if (!(pixel > value || pixel != pixel)) return;
        value = pixel;
        at = pixel_at;
    }
};

__device__ Largest largest_of(float2 above, float2 below, int at, int width) {
    Largest largest{above.x, at};
    largest.take(above.y, at + 1);
    largest.take(below.x, at + width);
    largest.take(below.y, at + width + 1);
    return largest;
}

struct Image {
    long long rows;  // of outputs, of all planes
    int out_h, out_w, in_h, in_w;

    /// The position in the plane of the first pixel of an output's window.
    __device__ int position(long long row, int column) const {
        return static_cast<int>(row % out_h) * 2 * in_w + 2 * column;
    }
    __device__ long long plane(long long row) const {
        return row / out_h * (static_cast<long long>(in_h) * in_w);
    }
};

__global__ void one_each(const float* x, float* y, int* index, Image g) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= g.rows * g.out_w) return;
    const long long row = i / g.out_w;
    const int at = g.position(row, static_cast<int>(i % g.out_w));
    const float *const above = x + g.plane(row) + at, *const below = above + g.in_w;
    const Largest largest =
        largest_of(make_float2(above[0], above[1]), make_float2(below[0], below[1]), at, g.in_w);
    y[i] = largest.value;
    index[i] = largest.at;
}

__global__ void two_each(const float* x, float* y, int* index, Image g) {
    const long long pair = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long i = 2 * pair;
    if (i >= g.rows * g.out_w) return;
    const long long row = i / g.out_w;
    const int at = g.position(row, static_cast<int>(i % g.out_w));
    const float* const from = x + g.plane(row) + at;
    const float4 above = *reinterpret_cast<const float4*>(from);
    const float4 below = *reinterpret_cast<const float4*>(from + g.in_w);
    const Largest left =
        largest_of(make_float2(above.x, above.y), make_float2(below.x, below.y), at, g.in_w);
    const Largest right =
        largest_of(make_float2(above.z, above.w), make_float2(below.z, below.w), at + 2, g.in_w);
    y[i] = left.value;
    y[i + 1] = right.value;
    index[i] = left.at;
    index[i + 1] = right.at;
}

void launch(const gradverify::maxpool::Forward& call) {
    const Image g{call.n * call.c * call.y.size(2), static_cast<int>(call.y.size(2)),
                  static_cast<int>(call.y.size(3)), static_cast<int>(call.h.in),
                  static_cast<int>(call.w.in)};
    const long long outputs = g.rows * g.out_w;
    if (outputs == 0) return;
    const auto* x = call.x.as<const float>();
    auto* const y = call.y.as<float>();
    auto* const index = call.index.as<std::int32_t>();
    if (g.in_w % 4 == 0 && reinterpret_cast<std::uintptr_t>(x) % sizeof(float4) == 0)
        two_each<<<blocks_of(outputs / 2, 256), 256, 0, call.launch.stream>>>(x, y, index, g);
    else
        one_each<<<blocks_of(outputs, 256), 256, 0, call.launch.stream>>>(x, y, index, g);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::maxpool::Forward, "window_2x2", launch)
    .where("window", gradverify::equals(2))
    .where("stride", gradverify::equals(2))
    .where("dilation", gradverify::equals(1))
    .where("padding", gradverify::equals(0))
    .aligned_to(sizeof(float))
    .with_empty_problems();
