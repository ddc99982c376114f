// SPDX-License-Identifier: Apache-2.0
// avgpool.forward/separable: a block for each tile of outputs sums windows along the rows, into
// shared memory, then down the columns. Windows of F x F take 2 F additions.
// avgpool.grad_input/separable: a block for each tile of pixels adds up shares along the rows of
// dy, into shared memory, then down the columns.
#include "kernels/avgpool/window.cuh"
#include "kernels/kernel.cuh"
#include "reference/avgpool.hpp"

namespace {

using gradverify::avgpool::Forward;
using gradverify::avgpool::GradInput;

constexpr int tile_columns = 32, tile_threads_y = 8, sum_rows_maximum = 384;

/// A plane cut into tiles: a block for each, a column for each lane, and rows as memory allows.
struct PoolTiles {
    long long rows, columns;  ///< of a plane that is cut
    int tile_rows;            ///< of a tile

    __host__ __device__ long long tiles_down() const { return (rows + tile_rows - 1) / tile_rows; }
    __host__ __device__ long long tiles_across() const {
        return (columns + tile_columns - 1) / tile_columns;
    }
    /// The tile of a block, numbered row by row, plane by plane.
    __device__ long long plane(long long block) const {
        return block / (tiles_down() * tiles_across());
    }
    __device__ long long first_row(long long block) const {
        return block / tiles_across() % tiles_down() * tile_rows;
    }
    __device__ long long column(long long block) const {
        return block % tiles_across() * tile_columns + threadIdx.x;
    }
    __device__ long long end_row(long long first) const {
        return first + tile_rows < rows ? first + tile_rows : rows;
    }
};

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

void forward(const Forward& call) {
    const PoolGeometry g = pool_geometry(call, call.y);
    if (g.outputs() == 0) return;
    // Rows of outputs whose windows span no more rows of the image than there is room for.
    const long long most = (sum_rows_maximum - g.h.window) / g.h.stride + 1;
    const PoolTiles tiles{g.h.out, g.w.out, static_cast<int>(most < g.h.out ? most : g.h.out)};
    in_grids(
        g.planes * tiles.tiles_down() * tiles.tiles_across(), [&](long long first, unsigned count) {
            pool<<<count, dim3(tile_columns, tile_threads_y), 0, call.launch.stream>>>(
                call.x.as<const float>(), call.y.as<float>(), g, tiles, call.include_pad, first);
        });
}

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

void grad_input(const GradInput& call) {
    const PoolGeometry g = pool_geometry(call, call.dy);
    if (g.pixels() == 0) return;
    // Rows of pixels over which there are no more rows of windows than there is room for.
    const long long most = sum_rows_maximum - g.h.window + 1;
    const PoolTiles tiles{g.h.in, g.w.in, static_cast<int>(most < g.h.in ? most : g.h.in)};
    in_grids(
        g.planes * tiles.tiles_down() * tiles.tiles_across(), [&](long long first, unsigned count) {
            gather<<<count, dim3(tile_columns, tile_threads_y), 0, call.launch.stream>>>(
                call.dy.as<const float>(), call.dx.as<float>(), g, tiles, call.include_pad, first);
        });
}

void declare(gradverify::KernelDeclaration& kernel) {
    declare_elements<float>(kernel);
    kernel.where("window_h", gradverify::between(1, sum_rows_maximum))
        .costs({.threads_per_output = tile_columns * tile_threads_y, .barriers_per_thread = 1});
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "separable", forward).with(declare);
GRADVERIFY_KERNEL(GradInput, "separable", grad_input).with(declare);
