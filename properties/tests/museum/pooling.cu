// SPDX-License-Identifier: Apache-2.0
// The museum's pieces of maxpool and avgpool.
#include "kernels/avgpool/window.cuh"
#include "kernels/pool_geometry.cuh"
#include "properties/tests/museum/pair.cuh"
#include "reference/avgpool.hpp"
#include "reference/maxpool.hpp"

namespace {

using namespace gradverify;

constexpr int tile_w = 32, tile_h = 8;

__global__ void scatter(const float* dy, const int* index, float* dx, PoolGeometry g) {
    const long long w = blockIdx.x * tile_w + threadIdx.x, h = blockIdx.y * tile_h + threadIdx.y;
    if (w >= g.w.out || h >= g.h.out) return;
    for (long long plane = 0; plane < g.planes; ++plane) {
        const long long output = (plane * g.h.out + h) * g.w.out + w;
        atomicAdd(&dx[plane * g.h.in * g.w.in + index[output]], dy[output]);
    }
}

// The launcher is given the output's width for its height: the longer axis is not covered.
template <bool is_fixed>
void grad_of_largest(const maxpool::GradInput& call) {
    const PoolGeometry g = pool_geometry(call, call.dy, call.dilation_h, call.dilation_w);
    clear(call.dx, call.launch);
    const long long width = is_fixed ? g.w.out : g.h.out, height = is_fixed ? g.h.out : g.w.out;
    launch_blocks(call.launch, scatter, dim3(blocks_of(width, tile_w), blocks_of(height, tile_h)),
                  dim3(tile_w, tile_h), call.dy, call.index, call.dx, g);
}

/// The first tap of a window that lies in the image.
template <bool is_fixed>
__device__ long long first_inside(const DevicePoolAxis& axis, long long o) {
    const long long begin = axis.begin(o);
    if (begin >= 0) return begin;
    return is_fixed ? begin + (-begin + axis.dilation - 1) / axis.dilation * axis.dilation : 0;
}

// A window that begins in the padding is taken to begin at pixel 0, and steps from there.
template <bool is_fixed>
__device__ void largest_of(long long i, const float* x, float* y, int* index, PoolGeometry g) {
    const long long oh = i / g.w.out % g.h.out, ow = i % g.w.out;
    const float* const plane = x + i / (g.h.out * g.w.out) * g.h.in * g.w.in;
    const auto end = [](const DevicePoolAxis& axis, long long o) {
        const long long of_window = axis.begin(o) + axis.dilation * (axis.window - 1) + 1;
        return of_window < axis.in ? of_window : axis.in;
    };
    long long at = -1;
    for (long long h = first_inside<is_fixed>(g.h, oh); h < end(g.h, oh); h += g.h.dilation)
        for (long long w = first_inside<is_fixed>(g.w, ow); w < end(g.w, ow); w += g.w.dilation) {
            const float pixel = plane[h * g.w.in + w];
            if (at < 0 || pixel > plane[at] || pixel != pixel) at = h * g.w.in + w;
        }
    y[i] = at < 0 ? -INFINITY : plane[at];
    index[i] = static_cast<int>(at);
}

template <bool is_fixed>
void largest(const maxpool::Forward& call) {
    const PoolGeometry g = pool_geometry(call, call.y, call.dilation_h, call.dilation_w);
    launch_each<largest_of<is_fixed>>(call.launch, g.outputs(), call.x, call.y, call.index, g);
}

enum class Mistake { none, pixel_without_padding, whole_divisor };

template <Mistake mistake>
__device__ void gather(long long i, const float* dy, float* dx, PoolGeometry g, bool include_pad) {
    const long long w = i % g.w.in, h = i / g.w.in % g.h.in;
    // Which windows are over a pixel is asked with its place in the padded image.
    DevicePoolAxis over_h = g.h, over_w = g.w;
    if (mistake == Mistake::pixel_without_padding) over_h.padding = over_w.padding = 0;
    const float* const plane = dy + i / (g.h.in * g.w.in) * g.h.out * g.w.out;
    float sum = 0.0f;
    for (long long oh = over_h.first_over(h); oh < over_h.end_over(h); ++oh)
        for (long long ow = over_w.first_over(w); ow < over_w.end_over(w); ++ow) {
            const long long counted = mistake == Mistake::whole_divisor && include_pad
                                          ? g.h.window * g.w.window
                                          : AverageWindow(g.h, oh, include_pad).counted *
                                                AverageWindow(g.w, ow, include_pad).counted;
            sum += plane[oh * g.w.out + ow] / static_cast<float>(counted);
        }
    dx[i] = sum;
}

template <Mistake mistake>
void grad_of_mean(const avgpool::GradInput& call) {
    const PoolGeometry g = pool_geometry(call, call.dy);
    launch_each<gather<mistake>>(call.launch, g.pixels(), call.dy, call.dx, g, call.include_pad);
}

}  // namespace

GRADVERIFY_MUSEUM_PAIR(maxpool::GradInput, "swapped_grid", grad_of_largest, declare_atomics);
GRADVERIFY_MUSEUM_PAIR(maxpool::Forward, "dilated_from_edge", largest, declare_piece);
GRADVERIFY_KERNEL(avgpool::GradInput, "museum_pixel_without_padding",
                  grad_of_mean<Mistake::pixel_without_padding>)
    .with(declare_piece);
GRADVERIFY_KERNEL(avgpool::GradInput, "museum_whole_divisor", grad_of_mean<Mistake::whole_divisor>)
    .with(declare_piece);
GRADVERIFY_KERNEL(avgpool::GradInput, "fixed_museum", grad_of_mean<Mistake::none>)
    .with(declare_piece);
