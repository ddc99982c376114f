// SPDX-License-Identifier: Apache-2.0
// fc.grad_bias/block_reduction: a block for each 32 output features. A warp reads 32 neighbours of
// a row; the warps take rows in turn, and the first one adds up.
#include "kernels/kernel.cuh"
#include "reference/fc.hpp"

namespace {

constexpr int columns = 32;

// dy: n, k; db: k. The block has `columns` times up to 32 threads.
__global__ void sum_columns(const float* dy, float* db, long long n, long long k) {
    __shared__ float sum_of[32][columns];
    const long long column = static_cast<long long>(blockIdx.x) * columns + threadIdx.x;
    float sum = 0.0f;
    if (column < k)
        for (long long row = threadIdx.y; row < n; row += blockDim.y) sum += dy[row * k + column];
    sum_of[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || column >= k) return;
    for (unsigned i = 1; i < blockDim.y; ++i) sum += sum_of[i][threadIdx.x];
    db[column] = sum;
}

void launch(const gradverify::fc::GradBias& call) {
    const dim3 block(columns, static_cast<unsigned>(call.launch.block_size) / columns);
    sum_columns<<<static_cast<unsigned>((call.k + columns - 1) / columns), block, 0,
                  call.launch.stream>>>(call.dy.as<const float>(), call.db.as<float>(), call.n,
                                        call.k);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::fc::GradBias, "block_reduction", launch)
    .with(declare_elements_on_stream<float>)
    .blocks_of({256, 32, 96, 1024})
    .costs({.threads_per_output = 32, .barriers_per_thread = 1});
