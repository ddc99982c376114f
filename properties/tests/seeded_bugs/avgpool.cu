// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of avgpool.
#include <utility>

#include "kernels/avgpool/window.cuh"
#include "properties/tests/launches.cuh"
#include "reference/avgpool.hpp"

namespace {

using gradverify::avgpool::Forward;
using gradverify::avgpool::GradInput;

// With padding counted, divides by the whole window where rounding up lets it reach beyond.
__device__ void pool(long long i, const float* x, float* y, PoolGeometry g, bool include_pad) {
    const AverageWindow rows(g.h, i / g.w.out % g.h.out, include_pad);
    const AverageWindow columns(g.w, i % g.w.out, include_pad);
    const float* const plane = x + i / (g.h.out * g.w.out) * g.h.in * g.w.in;
    float sum = 0.0f;
    for (long long h = rows.begin; h < rows.end; ++h)
        for (long long w = columns.begin; w < columns.end; ++w) sum += plane[h * g.w.in + w];
    const long long counted =
        include_pad ? g.h.window * g.w.window : rows.counted * columns.counted;
    y[i] = sum / static_cast<float>(counted);
}

void launch_forward(const Forward& call) {
    const PoolGeometry g = pool_geometry(call, call.y);
    launch_each<pool>(call.launch, g.outputs(), call.x, call.y, g, call.include_pad);
}

enum class Bug { whole_window, swapped_strides };

template <Bug bug>
__device__ void gather(long long i, const float* dy, float* dx, PoolGeometry g, bool include_pad) {
    const long long w = i % g.w.in, h = i / g.w.in % g.h.in;
    const float* const plane = dy + i / (g.h.in * g.w.in) * g.h.out * g.w.out;
    float sum = 0.0f;
    for (long long oh = g.h.first_over(h); oh < g.h.end_over(h); ++oh)
        for (long long ow = g.w.first_over(w); ow < g.w.end_over(w); ++ow) {
            // A10: the forward pass divides by the part of the window inside the image.
            const long long counted = bug == Bug::whole_window
                                          ? g.h.window * g.w.window
                                          : AverageWindow(g.h, oh, include_pad).counted *
                                                AverageWindow(g.w, ow, include_pad).counted;
            sum += plane[oh * g.w.out + ow] / static_cast<float>(counted);
        }
    dx[i] = sum;
}

template <Bug bug>
void launch(const GradInput& call) {
    PoolGeometry g = pool_geometry(call, call.dy);
    if (bug == Bug::swapped_strides) std::swap(g.h.stride, g.w.stride);
    launch_each<gather<bug>>(call.launch, g.pixels(), call.dy, call.dx, g, call.include_pad);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "bug_whole_window_in_ceil_mode", launch_forward);
GRADVERIFY_KERNEL(GradInput, "bug_a10_whole_window", launch<Bug::whole_window>);
GRADVERIFY_KERNEL(GradInput, "bug_swapped_strides", launch<Bug::swapped_strides>);
