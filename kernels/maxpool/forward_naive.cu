// SPDX-License-Identifier: Apache-2.0
// maxpool.forward/naive: a thread for each output looks at its window, row by row.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/pool_geometry.cuh"
#include "reference/maxpool.hpp"

namespace {

__global__ void pool(const float* x, float* y, int* index, PoolGeometry g) {
    const long long i = thread_in_grid();
    if (i >= g.outputs()) return;
    const float* const plane = x + i / (g.h.out * g.w.out) * g.h.in * g.w.in;
    const long long h_begin = g.h.begin(i / g.w.out % g.h.out), w_begin = g.w.begin(i % g.w.out);
    float largest = 0.0f;
    long long at = -1;
    for (long long t = 0; t < g.h.window; ++t) {
        const long long h = h_begin + t * g.h.dilation;
        if (h < 0 || h >= g.h.in) continue;
        for (long long s = 0; s < g.w.window; ++s) {
            const long long w = w_begin + s * g.w.dilation;
            if (w < 0 || w >= g.w.in) continue;
            const float pixel = plane[h * g.w.in + w];
            if (at >= 0 && pixel <= largest) continue;
            // Nothing is larger than a NaN but another one.
            if (largest != largest && pixel == pixel) continue;
            largest = pixel;
            at = h * g.w.in + w;
        }
    }
    y[i] = largest;
    index[i] = static_cast<int>(at);
}

void launch(const gradverify::maxpool::Forward& call) {
    const PoolGeometry g = pool_geometry(call, call.y, call.dilation_h, call.dilation_w);
    if (g.outputs() == 0) return;
    pool<<<blocks_of(g.outputs(), 128), 128, 0, call.launch.stream>>>(
        call.x.as<const float>(), call.y.as<float>(), call.index.as<std::int32_t>(), g);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::maxpool::Forward, "naive", launch)
    .aligned_to(sizeof(float))
    .with_empty_problems();
