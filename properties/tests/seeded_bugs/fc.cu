// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of fc.
#include "properties/tests/launches.cuh"
#include "reference/fc.hpp"

namespace {

using gradverify::fc::Forward;
using gradverify::fc::GradBias;
using gradverify::fc::GradInput;
using gradverify::fc::GradWeight;

enum class Bug { tail_of_tile, tail_within_buffer, bias_of_each_tile, no_barrier };

constexpr int tile = 8;

// A12: the sum's last tile is not masked where its row ends, or only where the buffer ends.
template <Bug bug>
__device__ float load(const float* matrix, int row, int column, int rows, int columns) {
    const bool masked = bug != Bug::tail_of_tile && bug != Bug::tail_within_buffer;
    if (row >= rows || (masked && column >= columns)) return 0.0f;
    const int at = row * columns + column;
    return bug == Bug::tail_within_buffer && at >= rows * columns ? 0.0f : matrix[at];
}

template <Bug bug>
__global__ void forward_tiled(const float* x, const float* w, const float* b, float* y, int n,
                              int c, int k) {
    __shared__ float tile_x[tile][tile], tile_w[tile][tile];
    const int across = (k + tile - 1) / tile;
    const int row = blockIdx.x / across * tile + threadIdx.y;
    const int first_column = blockIdx.x % across * tile;
    const int column = first_column + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < c; first += tile) {
        const int at = first + static_cast<int>(threadIdx.x);
        tile_x[threadIdx.y][threadIdx.x] = load<bug>(x, row, at, n, c);
        tile_w[threadIdx.y][threadIdx.x] =
            load<bug>(w, first_column + static_cast<int>(threadIdx.y), at, k, c);
        __syncthreads();
        for (int l = 0; l < tile; ++l) sum += tile_x[threadIdx.y][l] * tile_w[threadIdx.x][l];
        if (bug == Bug::bias_of_each_tile && column < k) sum += b[column];
        if (bug != Bug::no_barrier) __syncthreads();
    }
    if (bug != Bug::bias_of_each_tile && column < k) sum += b[column];
    if (row < n && column < k) y[row * k + column] = sum;
}

// w is taken to be square.
__device__ void grad_input_square(int i, const float* dy, const float* w, float* dx, int c, int k) {
    float sum = 0.0f;
    for (int out = 0; out < k; ++out) sum += dy[i / c * k + out] * w[out * k + i % c];
    dx[i] = sum;
}

__device__ void grad_weight_transposed(int i, const float* dy, const float* x, float* dw, int n,
                                       int c, int k) {
    float sum = 0.0f;
    for (int row = 0; row < n; ++row) sum += x[row * c + i / k] * dy[row * k + i % k];
    dw[i] = sum;
}

// Rows beyond the number of a block's threads are lost.
__global__ void grad_bias_one_round(const float* dy, float* db, int n, int k) {
    __shared__ float share[tile];
    share[threadIdx.x] = threadIdx.x < n ? dy[threadIdx.x * k + blockIdx.x] : 0.0f;
    __syncthreads();
    if (threadIdx.x > 0) return;
    float sum = 0.0f;
    for (const float one : share) sum += one;
    db[blockIdx.x] = sum;
}

template <Bug bug>
void launch_forward(const Forward& call) {
    const unsigned blocks = blocks_of(call.n, tile) * blocks_of(call.k, tile);
    launch_blocks(call.launch, forward_tiled<bug>, blocks, dim3(tile, tile), call.x, call.w, call.b,
                  call.y, call.n, call.c, call.k);
}

void launch_grad_input(const GradInput& call) {
    launch_each<grad_input_square>(call.launch, call.dx.elements(), call.dy, call.w, call.dx,
                                   call.c, call.k);
}

void launch_grad_weight(const GradWeight& call) {
    launch_each<grad_weight_transposed>(call.launch, call.dw.elements(), call.dy, call.x, call.dw,
                                        call.n, call.c, call.k);
}

void launch_grad_bias(const GradBias& call) {
    launch_blocks(call.launch, grad_bias_one_round, static_cast<unsigned>(call.k), tile, call.dy,
                  call.db, call.n, call.k);
}

void declare_tiles(gradverify::KernelDeclaration& kernel) {
    kernel.costs({.threads_per_output = tile, .barriers_per_thread = 4});
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "bug_a12_tail_of_tile", launch_forward<Bug::tail_of_tile>)
    .with(declare_tiles);
GRADVERIFY_KERNEL(Forward, "bug_a12_tail_within_buffer", launch_forward<Bug::tail_within_buffer>)
    .with(declare_tiles);
GRADVERIFY_KERNEL(Forward, "bug_bias_of_each_tile", launch_forward<Bug::bias_of_each_tile>)
    .with(declare_tiles);
GRADVERIFY_KERNEL(Forward, "bug_no_barrier_after_tile", launch_forward<Bug::no_barrier>)
    .with(declare_tiles);
GRADVERIFY_KERNEL(GradInput, "bug_square_weights", launch_grad_input);
GRADVERIFY_KERNEL(GradWeight, "bug_transposed", launch_grad_weight);
GRADVERIFY_KERNEL(GradBias, "bug_one_round", launch_grad_bias)
    .costs({.threads_per_output = tile, .barriers_per_thread = 1});
