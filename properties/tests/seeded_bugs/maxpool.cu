// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of maxpool.
#include "kernels/pool_geometry.cuh"
#include "properties/tests/launches.cuh"
#include "reference/maxpool.hpp"

namespace {

using gradverify::maxpool::Forward;
using gradverify::maxpool::GradInput;

enum class Bug { starts_at_zero, skips_nan, index_in_window, index_in_tensor, last_of_ties };

template <Bug bug>
__device__ bool is_larger(float pixel, float largest) {
    if (bug == Bug::skips_nan) return pixel > largest;
    if (bug == Bug::last_of_ties && pixel == largest) return true;
    return pixel > largest || pixel != pixel;
}

template <Bug bug>
__device__ void pool(long long i, const float* x, float* y, int* index, PoolGeometry g) {
    const long long plane = i / (g.h.out * g.w.out) * g.h.in * g.w.in;
    const long long h_begin = g.h.begin(i / g.w.out % g.h.out), w_begin = g.w.begin(i % g.w.out);
    // A08: pixels below zero are never the largest.
    float largest = bug == Bug::starts_at_zero ? 0.0f : -INFINITY;
    long long at = -1;
    for (long long t = 0; t < g.h.window; ++t)
        for (long long s = 0; s < g.w.window; ++s) {
            const long long h = h_begin + t * g.h.dilation, w = w_begin + s * g.w.dilation;
            if (h < 0 || h >= g.h.in || w < 0 || w >= g.w.in) continue;
            const float pixel = x[plane + h * g.w.in + w];
            const bool is_first = at < 0 && bug != Bug::starts_at_zero && bug != Bug::skips_nan;
            if (at < 0) at = 0;
            if (!is_first && !is_larger<bug>(pixel, largest)) continue;
            largest = pixel;
            at = bug == Bug::index_in_window ? t * g.w.window + s : h * g.w.in + w;
            if (bug == Bug::index_in_tensor) at += plane;
        }
    y[i] = largest;
    index[i] = static_cast<int>(at);
}

template <Bug bug>
void launch(const Forward& call) {
    const PoolGeometry g = pool_geometry(call, call.y, call.dilation_h, call.dilation_w);
    launch_each<pool<bug>>(call.launch, g.outputs(), call.x, call.y, call.index, g);
}

template <bool adds>
__device__ void scatter(long long i, const float* dy, const int* index, float* dx, PoolGeometry g) {
    float* const to = &dx[i / (g.h.out * g.w.out) * g.h.in * g.w.in + index[i]];
    if (adds)
        atomicAdd(to, dy[i]);
    else
        *to = dy[i];
}

template <bool clears, bool adds>
void launch_scatter(const GradInput& call) {
    const PoolGeometry g = pool_geometry(call, call.dy);
    if (clears) clear(call.dx, call.launch);
    launch_each<scatter<adds>>(call.launch, g.outputs(), call.dy, call.index, call.dx, g);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "bug_a08_starts_at_zero", launch<Bug::starts_at_zero>);
GRADVERIFY_KERNEL(Forward, "bug_skips_nan", launch<Bug::skips_nan>);
GRADVERIFY_KERNEL(Forward, "bug_index_in_window", launch<Bug::index_in_window>);
GRADVERIFY_KERNEL(Forward, "bug_index_in_tensor", launch<Bug::index_in_tensor>);
GRADVERIFY_KERNEL(Forward, "bug_last_of_ties", launch<Bug::last_of_ties>);
// A09: windows with one largest pixel overwrite each other's cotangents.
GRADVERIFY_KERNEL(GradInput, "bug_a09_overwrites", (launch_scatter<true, false>))
    .not_deterministic();
GRADVERIFY_KERNEL(GradInput, "bug_not_cleared", (launch_scatter<false, true>)).not_deterministic();
