// SPDX-License-Identifier: Apache-2.0
// The sum of one number of each thread of a block, for kernels that give a block to each row or
// channel.
#pragma once

/// In every thread. **Ranges** the block has a power of two of at most 1024 threads, and all of
/// them call; `share` holds as many floats.
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
