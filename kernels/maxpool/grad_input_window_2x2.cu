// SPDX-License-Identifier: Apache-2.0
// maxpool.grad_input/window_2x2: windows of 2x2 side by side. A thread writes all pixels of a
// window, two at a time where rows are aligned so: nothing is cleared before, and nothing added. A
// last row or column without a window is written by threads of its own.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/pool_geometry.cuh"
#include "reference/maxpool.hpp"

namespace {

struct Image {
    long long planes;
    int out_h, out_w, in_h, in_w;

    /// Blocks of 2x2 pixels, those cut off by the edge included.
    __host__ __device__ int rows() const { return (in_h + 1) / 2; }
    __host__ __device__ int columns() const { return (in_w + 1) / 2; }
    __host__ __device__ long long blocks() const { return planes * rows() * columns(); }
};

template <bool in_pairs>
__global__ void spread(const float* dy, const int* index, float* dx, Image g) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= g.blocks()) return;
    const int column = static_cast<int>(i % g.columns());
    const int row = static_cast<int>(i / g.columns() % g.rows());
    const long long plane = i / g.columns() / g.rows();
    float cotangent = 0.0f;
    int taken = -1;
    if (row < g.out_h && column < g.out_w) {
        const long long output = (plane * g.out_h + row) * g.out_w + column;
        cotangent = dy[output];
        taken = index[output];
    }
    float* const to = dx + plane * g.in_h * g.in_w;
    const auto value = [&](int position) { return position == taken ? cotangent : 0.0f; };
    for (int h = 2 * row; h < 2 * row + 2 && h < g.in_h; ++h) {
        const int left = h * g.in_w + 2 * column;
        if (in_pairs) {
            *reinterpret_cast<float2*>(to + left) = make_float2(value(left), value(left + 1));
            continue;
        }
        to[left] = value(left);
        if (2 * column + 1 < g.in_w) to[left + 1] = value(left + 1);
    }
}

void launch(const gradverify::maxpool::GradInput& call) {
    const Image g{call.n * call.c, static_cast<int>(call.dy.size(2)),
                  static_cast<int>(call.dy.size(3)), static_cast<int>(call.h.in),
                  static_cast<int>(call.w.in)};
    if (g.blocks() == 0) return;
    const auto* dy = call.dy.as<const float>();
    const auto* index = call.index.as<const std::int32_t>();
    auto* const dx = call.dx.as<float>();
    const unsigned blocks = blocks_of(g.blocks(), 256);
    if (g.in_w % 2 == 0 && reinterpret_cast<std::uintptr_t>(dx) % sizeof(float2) == 0)
        spread<true><<<blocks, 256, 0, call.launch.stream>>>(dy, index, dx, g);
    else
        spread<false><<<blocks, 256, 0, call.launch.stream>>>(dy, index, dx, g);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::maxpool::GradInput, "window_2x2", launch)
    .where("window", gradverify::equals(2))
    .where("stride", gradverify::equals(2))
    .where("dilation", gradverify::equals(1))
    .where("padding", gradverify::equals(0))
    .aligned_to(sizeof(float))
    .with_empty_problems();
