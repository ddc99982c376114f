// SPDX-License-Identifier: Apache-2.0
// The mean of the rows' losses, in an order that does not change.
#pragma once

#include <cuda_runtime.h>

#include "kernels/block_sum.cuh"

namespace gradverify::softmax_cross_entropy {

constexpr int mean_threads = 256;

/// By one block. Of no rows it is 0 / 0, which is NaN as it must be.
///
/// **Shapes** loss_of `n`; loss a single number.
static __global__ void mean_of_rows(const float* loss_of, float* loss, long long n) {
    __shared__ float share[mean_threads];
    float sum = 0.0f;
    for (long long i = threadIdx.x; i < n; i += mean_threads) sum += loss_of[i];
    sum = block_sum(sum, share);
    if (threadIdx.x == 0) *loss = sum / static_cast<float>(n);
}

}  // namespace gradverify::softmax_cross_entropy
