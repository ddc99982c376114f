// SPDX-License-Identifier: Apache-2.0
// avgpool.grad_input/separable: a block for each tile of pixels adds up the shares of the windows
// over a column for each row of dy, into shared memory, then those of the rows over a pixel.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/avgpool/tile.cuh"
#include "kernels/grids.cuh"
#include "reference/avgpool.hpp"

namespace {

__global__ void gather(const float* dy, float* dx, PoolGeometry g, PoolTiles tiles,
                       bool include_pad, long long first_tile) {
    __shared__ float shares[sum_rows_maximum][tile_columns];
    const long long tile = first_tile + blockIdx.x;
    const long long plane = tiles.plane(tile), w = tiles.column(tile);
    const long long first = tiles.first_row(tile), end = tiles.end_row(first);
    const long long oh_begin = g.h.first_over(first), oh_end = g.h.end_over(end - 1);
    for (long long oh = oh_begin + threadIdx.y; oh < oh_end; oh += blockDim.y) {
        const float* const row = dy + (plane * g.h.out + oh) * g.w.out;
        float sum = 0.0f;
        if (w < g.w.in)
            for (long long ow = g.w.first_over(w); ow < g.w.end_over(w); ++ow)
                sum += row[ow] / static_cast<float>(AverageWindow(g.w, ow, include_pad).counted);
        shares[oh - oh_begin][threadIdx.x] =
            sum / static_cast<float>(AverageWindow(g.h, oh, include_pad).counted);
    }
    __syncthreads();
    if (w >= g.w.in) return;
    for (long long h = first + threadIdx.y; h < end; h += blockDim.y) {
        float sum = 0.0f;
        for (long long oh = g.h.first_over(h); oh < g.h.end_over(h); ++oh)
            sum += shares[oh - oh_begin][threadIdx.x];
        dx[(plane * g.h.in + h) * g.w.in + w] = sum;
    }
}

void launch(const gradverify::avgpool::GradInput& call) {
    const PoolGeometry g = pool_geometry(call, call.dy);
    if (g.pixels() == 0) return;
    // Over so many rows of pixels there are no more rows of windows than there is room for.
    const long long most = sum_rows_maximum - g.h.window + 1;
    const PoolTiles tiles{g.h.in, g.w.in, static_cast<int>(most < g.h.in ? most : g.h.in)};
    in_grids(
        g.planes * tiles.tiles_down() * tiles.tiles_across(), [&](long long first, unsigned count) {
            gather<<<count, dim3(tile_columns, tile_threads_y), 0, call.launch.stream>>>(
                call.dy.as<const float>(), call.dx.as<float>(), g, tiles, call.include_pad, first);
        });
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::avgpool::GradInput, "separable", launch)
    .where("window_h", gradverify::between(1, sum_rows_maximum))
    .aligned_to(sizeof(float))
    .costs({.threads_per_output = tile_columns * tile_threads_y, .barriers_per_thread = 1})
    .with_empty_problems();
