// SPDX-License-Identifier: Apache-2.0
// The mean of the rows' losses, in an order that does not change.
#pragma once

#include <cuda_runtime.h>

#include "harness/problems/problem.hpp"
#include "kernels/block_sum.cuh"
#include "kernels/grids.cuh"

namespace gradverify::softmax_cross_entropy {

constexpr int mean_threads = 256;

/// Bytes of the workspace that holds the losses of the rows.
inline std::int64_t float_for_each_row(const Problem& problem) {
    return problem.scalar("n") * static_cast<std::int64_t>(sizeof(float));
}

/// Takes one block. The mean of no rows is 0 / 0, which is NaN, as it must be.
///
/// **Shapes** loss_of `n`; loss a single number.
static __global__ void mean_of_rows(const float* loss_of, float* loss, long long n) {
    __shared__ float share[mean_threads];
    float sum = 0.0f;
    for (long long i = threadIdx.x; i < n; i += mean_threads) sum += loss_of[i];
    sum = block_sum(sum, share);
    if (threadIdx.x == 0) *loss = sum / static_cast<float>(n);
}
inline void launch_mean(const float* loss_of, float* loss, long long n, cudaStream_t stream) {
    mean_of_rows<<<1, mean_threads, 0, stream>>>(loss_of, loss, n);
}

}  // namespace gradverify::softmax_cross_entropy
