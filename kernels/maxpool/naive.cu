// SPDX-License-Identifier: Apache-2.0
// maxpool.forward/naive: a thread for each output looks at its window, row by row.
// maxpool.grad_input/gather: a thread for each pixel asks the windows over it whether they took it.
// maxpool.grad_input/scatter: dx is cleared, then each output adds its cotangent to its pixel, with
// atomics, since windows may overlap.
#include "kernels/kernel.cuh"
#include "kernels/pool_geometry.cuh"
#include "reference/maxpool.hpp"

namespace {

using namespace gradverify::maxpool;

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

void forward(const Forward& call) {
    const PoolGeometry g = pool_geometry(call, call.y, call.dilation_h, call.dilation_w);
    if (g.outputs() == 0) return;
    pool<<<blocks_of(g.outputs(), 128), 128, 0, call.launch.stream>>>(
        call.x.as<const float>(), call.y.as<float>(), call.index.as<std::int32_t>(), g);
}

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

void grad_input_by_gather(const GradInput& call) {
    const PoolGeometry g = pool_geometry(call, call.dy, call.dilation_h, call.dilation_w);
    if (g.pixels() == 0) return;
    gather<<<blocks_of(g.pixels(), 128), 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.index.as<const std::int32_t>(), call.dx.as<float>(), g);
}

__global__ void scatter(const float* dy, const int* index, float* dx, long long outputs,
                        long long outputs_of_plane, long long pixels_of_plane) {
    const long long i = thread_in_grid();
    if (i >= outputs) return;
    atomicAdd(&dx[i / outputs_of_plane * pixels_of_plane + index[i]], dy[i]);
}

void grad_input_by_scatter(const GradInput& call) {
    const PoolGeometry g = pool_geometry(call, call.dy);
    auto* const dx = call.dx.as<float>();
    if (g.pixels() > 0)
        cudaMemsetAsync(dx, 0, static_cast<std::size_t>(g.pixels()) * sizeof(float),
                        call.launch.stream);
    if (g.outputs() == 0) return;
    scatter<<<blocks_of(g.outputs(), 128), 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.index.as<const std::int32_t>(), dx, g.outputs(),
        g.h.out * g.w.out, g.h.in * g.w.in);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "naive", forward).with(declare_elements<float>);
GRADVERIFY_KERNEL(GradInput, "gather", grad_input_by_gather).with(declare_elements<float>);
GRADVERIFY_KERNEL(GradInput, "scatter", grad_input_by_scatter)
    .with(declare_elements<float>)
    .not_deterministic();
