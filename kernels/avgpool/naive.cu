// SPDX-License-Identifier: Apache-2.0
// avgpool.forward/naive: a thread for each output adds up its window.
// avgpool.grad_input/naive: a thread for each pixel adds up its share of the windows over it.
#include "kernels/avgpool/window.cuh"
#include "kernels/kernel.cuh"
#include "reference/avgpool.hpp"

namespace {

__global__ void pool(const float* x, float* y, PoolGeometry g, bool include_pad) {
    const long long i = thread_in_grid();
    if (i >= g.outputs()) return;
    const AverageWindow rows(g.h, i / g.w.out % g.h.out, include_pad);
    const AverageWindow columns(g.w, i % g.w.out, include_pad);
    const float* const plane = x + i / (g.h.out * g.w.out) * g.h.in * g.w.in;
    float sum = 0.0f;
    for (long long h = rows.begin; h < rows.end; ++h)
        for (long long w = columns.begin; w < columns.end; ++w) sum += plane[h * g.w.in + w];
    y[i] = sum / static_cast<float>(rows.counted * columns.counted);
}

void forward(const gradverify::avgpool::Forward& call) {
    const PoolGeometry g = pool_geometry(call, call.y);
    if (g.outputs() == 0) return;
    pool<<<blocks_of(g.outputs(), 128), 128, 0, call.launch.stream>>>(
        call.x.as<const float>(), call.y.as<float>(), g, call.include_pad);
}

__global__ void gather(const float* dy, float* dx, PoolGeometry g, bool include_pad) {
    const long long i = thread_in_grid();
    if (i >= g.pixels()) return;
    const long long w = i % g.w.in, h = i / g.w.in % g.h.in;
    const float* const plane = dy + i / (g.h.in * g.w.in) * g.h.out * g.w.out;
    float sum = 0.0f;
    for (long long oh = g.h.first_over(h); oh < g.h.end_over(h); ++oh)
        for (long long ow = g.w.first_over(w); ow < g.w.end_over(w); ++ow) {
            const long long counted = AverageWindow(g.h, oh, include_pad).counted *
                                      AverageWindow(g.w, ow, include_pad).counted;
            sum += plane[oh * g.w.out + ow] / static_cast<float>(counted);
        }
    dx[i] = sum;
}

void grad_input(const gradverify::avgpool::GradInput& call) {
    const PoolGeometry g = pool_geometry(call, call.dy);
    if (g.pixels() == 0) return;
    gather<<<blocks_of(g.pixels(), 128), 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.dx.as<float>(), g, call.include_pad);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::avgpool::Forward, "naive", forward).with(declare_elements<float>);
GRADVERIFY_KERNEL(gradverify::avgpool::GradInput, "naive", grad_input)
    .with(declare_elements<float>);
