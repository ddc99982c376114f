// SPDX-License-Identifier: Apache-2.0
// The number of a thread in its grid, and how many there are.
#pragma once

#include <cuda_runtime.h>

#include "kernels/grids.hpp"

__device__ inline long long thread_in_grid() {
    return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline long long threads_in_grid() {
    return static_cast<long long>(gridDim.x) * blockDim.x;
}
