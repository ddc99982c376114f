// SPDX-License-Identifier: Apache-2.0
// maxpool.grad_input/gather: a thread for each pixel asks the windows over it whether they took it.
// Needs no atomics, so sums are always in one order.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/pool_geometry.cuh"
#include "reference/maxpool.hpp"

namespace {

__global__ void gather(const float* dy, const int* index, float* dx, PoolGeometry g) {
    const long long i = thread_in_grid();
    if (i >= g.pixels()) return;
    const long long w = i % g.w.in, h = i / g.w.in % g.h.in;
    const long long plane = i / (g.h.in * g.w.in), position = h * g.w.in + w;
    float sum = 0.0f;
    for (long long oh = g.h.first_over(h); oh < g.h.end_over(h); ++oh)
        for (long long ow = g.w.first_over(w); ow < g.w.end_over(w); ++ow) {
            const long long output = (plane * g.h.out + oh) * g.w.out + ow;
            if (index[output] == position) sum += dy[output];
        }
    dx[i] = sum;
}

void launch(const gradverify::maxpool::GradInput& call) {
    const PoolGeometry g = pool_geometry(call, call.dy, call.dilation_h, call.dilation_w);
    if (g.pixels() == 0) return;
    gather<<<blocks_of(g.pixels(), 128), 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.index.as<const std::int32_t>(), call.dx.as<float>(), g);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::maxpool::GradInput, "gather", launch)
    .aligned_to(sizeof(float))
    .with_empty_problems();
