// SPDX-License-Identifier: Apache-2.0
// avgpool.forward/separable: a block for each tile of outputs sums the windows of each row first,
// into shared memory, then those sums down each column. Windows of F x F take 2 F additions.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/avgpool/tile.cuh"
#include "kernels/grids.cuh"
#include "reference/avgpool.hpp"

namespace {

__global__ void pool(const float* x, float* y, PoolGeometry g, PoolTiles tiles, bool include_pad,
                     long long first_tile) {
    __shared__ float sums[sum_rows_maximum][tile_columns];
    const long long tile = first_tile + blockIdx.x;
    const long long plane = tiles.plane(tile), ow = tiles.column(tile);
    const long long first = tiles.first_row(tile), end = tiles.end_row(first);
    const long long h_begin = AverageWindow(g.h, first, include_pad).begin;
    const long long h_end = AverageWindow(g.h, end - 1, include_pad).end;
    // Beyond the last column nothing is read.
    const AverageWindow columns(g.w, ow < g.w.out ? ow : 0, include_pad);
    for (long long h = h_begin + threadIdx.y; h < h_end; h += blockDim.y) {
        const float* const row = x + (plane * g.h.in + h) * g.w.in;
        float sum = 0.0f;
        if (ow < g.w.out)
            for (long long w = columns.begin; w < columns.end; ++w) sum += row[w];
        sums[h - h_begin][threadIdx.x] = sum;
    }
    __syncthreads();
    if (ow >= g.w.out) return;
    for (long long oh = first + threadIdx.y; oh < end; oh += blockDim.y) {
        const AverageWindow rows(g.h, oh, include_pad);
        float sum = 0.0f;
        for (long long h = rows.begin; h < rows.end; ++h) sum += sums[h - h_begin][threadIdx.x];
        y[(plane * g.h.out + oh) * g.w.out + ow] =
            sum / static_cast<float>(rows.counted * columns.counted);
    }
}

void launch(const gradverify::avgpool::Forward& call) {
    const PoolGeometry g = pool_geometry(call, call.y);
    if (g.outputs() == 0) return;
    // The windows of so many rows of outputs span no more rows of the image than there is room for.
    const long long most = (sum_rows_maximum - g.h.window) / g.h.stride + 1;
    const PoolTiles tiles{g.h.out, g.w.out, static_cast<int>(most < g.h.out ? most : g.h.out)};
    in_grids(
        g.planes * tiles.tiles_down() * tiles.tiles_across(), [&](long long first, unsigned count) {
            pool<<<count, dim3(tile_columns, tile_threads_y), 0, call.launch.stream>>>(
                call.x.as<const float>(), call.y.as<float>(), g, tiles, call.include_pad, first);
        });
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::avgpool::Forward, "separable", launch)
    .where("window_h", gradverify::between(1, sum_rows_maximum))
    .aligned_to(sizeof(float))
    .costs({.threads_per_output = tile_columns * tile_threads_y, .barriers_per_thread = 1})
    .with_empty_problems();
