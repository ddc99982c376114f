// SPDX-License-Identifier: Apache-2.0
// fc/tiled and fc/blocked: y = x w^T + b, dx = dy w and dw = dy^T x in tiles of shared memory, with
// one element of the result for each thread, or 4 x 4. A block loads a tile of each factor,
// multiplies them, and goes on along the sum. What lies outside of a factor is loaded as zero.
#include <algorithm>

#include "kernels/grids.hpp"
#include "kernels/kernel.cuh"
#include "reference/fc.hpp"

namespace {

using namespace gradverify;

/// A matrix in memory, transposed or not: element (i, j) is `data[i * row_stride + j *
/// column_stride]`, zero outside of `rows, columns`.
struct Factor {
    const float* data;
    long long rows, columns, row_stride, column_stride;

    __device__ float at(long long i, long long j) const {
        return i < rows && j < columns ? data[i * row_stride + j * column_stride] : 0.0f;
    }
};

Factor rows_of(const float* data, long long rows, long long columns) {
    return {data, rows, columns, columns, 1};
}
/// Element (i, j) is the one at (j, i) of a matrix of `columns, rows`.
Factor transposed(const float* data, long long rows, long long columns) {
    return {data, rows, columns, 1, rows};
}

constexpr int tile_threads = 16;  ///< along each axis of a block
constexpr int tile_depth = 16;    ///< terms of the sum that lie in shared memory at once

/// result = a b, plus bias[column] where there is one. Each thread has `each` x `each` elements of
/// the result, `tile_threads` apart, in registers.
///
/// **Shapes** a `m, l`; b `l, p`; bias `p`; result `m, p`.
template <int each>
__global__ void tiled_product(Factor a, Factor b, const float* bias, float* result) {
    constexpr int tile = tile_threads * each;
    __shared__ float tile_a[tile][tile_depth + 1];  // one more, so that columns differ in bank
    __shared__ float tile_b[tile_depth][tile + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    const long long tiles_across = (b.columns + tile - 1) / tile;
    const long long row = blockIdx.x / tiles_across * tile;
    const long long column = blockIdx.x % tiles_across * tile;

    // Most threads of a small result only load.
    const bool has_results = row + y < a.rows && column + x < b.columns;

    float sum[each][each] = {};
    for (long long first = 0; first < a.columns; first += tile_depth) {
        for (int i = y * tile_threads + x; i < tile * tile_depth;
             i += tile_threads * tile_threads) {
            // Neighbouring threads read neighbours in memory, whichever axis that is.
            const int a_row = a.column_stride == 1 ? i / tile_depth : i % tile;
            const int a_column = a.column_stride == 1 ? i % tile_depth : i / tile;
            const int b_row = b.column_stride == 1 ? i / tile : i % tile_depth;
            const int b_column = b.column_stride == 1 ? i % tile : i / tile_depth;
            tile_a[a_row][a_column] = a.at(row + a_row, first + a_column);
            tile_b[b_row][b_column] = b.at(first + b_row, column + b_column);
        }
        __syncthreads();
        for (int l = 0; has_results && l < tile_depth; ++l)
            for (int i = 0; i < each; ++i)
                for (int j = 0; j < each; ++j)
                    sum[i][j] += tile_a[y + i * tile_threads][l] * tile_b[l][x + j * tile_threads];
        __syncthreads();  // before the next tiles are loaded over these
    }
    for (int i = 0; i < each; ++i)
        for (int j = 0; j < each; ++j) {
            const long long m = row + y + i * tile_threads, p = column + x + j * tile_threads;
            if (m < a.rows && p < b.columns)
                result[m * b.columns + p] = sum[i][j] + (bias ? bias[p] : 0.0f);
        }
}

/// A sum without terms, as in an empty batch, is the bias, or zero.
template <int each>
void launch_tiled_product(const Factor& a, const Factor& b, const float* bias, float* result,
                          cudaStream_t stream) {
    constexpr int tile = tile_threads * each;
    // The grid has one dimension, since the second one ends at 65535.
    const long long blocks = divided_up(a.rows, tile) * divided_up(b.columns, tile);
    if (blocks == 0) return;
    tiled_product<each>
        <<<static_cast<unsigned>(blocks), dim3(tile_threads, tile_threads), 0, stream>>>(a, b, bias,
                                                                                         result);
}

/// A block's threads for each step of a pass's longest sum; small results usually take four each.
std::int64_t threads_of_steps(const Problem& problem) {
    const std::int64_t n = problem.scalar("n"), c = problem.scalar("c"), k = problem.scalar("k");
    return std::max({n, c, k}) * tile_threads + n * c * k / 4;
}

template <int each>
void forward(const fc::Forward& call) {
    const auto *const x = call.x.as<const float>(), *const w = call.w.as<const float>();
    launch_tiled_product<each>(rows_of(x, call.n, call.c), transposed(w, call.c, call.k),
                               call.b.as<const float>(), call.y.as<float>(), call.launch.stream);
}

template <int each>
void grad_input(const fc::GradInput& call) {
    const auto *const dy = call.dy.as<const float>(), *const w = call.w.as<const float>();
    launch_tiled_product<each>(rows_of(dy, call.n, call.k), rows_of(w, call.k, call.c), nullptr,
                               call.dx.as<float>(), call.launch.stream);
}

template <int each>
void grad_weight(const fc::GradWeight& call) {
    const auto *const dy = call.dy.as<const float>(), *const x = call.x.as<const float>();
    launch_tiled_product<each>(transposed(dy, call.k, call.n), rows_of(x, call.n, call.c), nullptr,
                               call.dw.as<float>(), call.launch.stream);
}

void declare(KernelDeclaration& kernel) {
    declare_elements_on_stream<float>(kernel);
    kernel.costs({.barriers_per_thread = 2, .threads = threads_of_steps});
}

}  // namespace

GRADVERIFY_KERNEL(fc::Forward, "tiled", forward<1>).with(declare);
GRADVERIFY_KERNEL(fc::Forward, "blocked", forward<4>).with(declare);
GRADVERIFY_KERNEL(fc::GradInput, "tiled", grad_input<1>).with(declare);
GRADVERIFY_KERNEL(fc::GradInput, "blocked", grad_input<4>).with(declare);
GRADVERIFY_KERNEL(fc::GradWeight, "tiled", grad_weight<1>).with(declare);
GRADVERIFY_KERNEL(fc::GradWeight, "blocked", grad_weight<4>).with(declare);
