// SPDX-License-Identifier: Apache-2.0
// The sum over the threads of a block, for kernels with a block for each row or channel.
#pragma once

/// Returns the sum in every thread. **Ranges** the block has a power of two of threads, at most
/// 1024, and all of them call; `share` holds as many floats.
__device__ inline float block_sum(float value, float* share) {
    __syncthreads();  // the sum before may still be read
    share[threadIdx.x] = value;
    __syncthreads();
    for (unsigned distance = blockDim.x / 2; distance > 0; distance /= 2) {
        if (threadIdx.x < distance) share[threadIdx.x] += share[threadIdx.x + distance];
        __syncthreads();
    }
    return share[0];
}
