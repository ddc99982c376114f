// SPDX-License-Identifier: Apache-2.0
// Copies from global to shared memory that run while the block computes. They are complete for all
// threads behind `wait_for_copies` and a barrier.
#pragma once

#include <cuda_pipeline_primitives.h>

namespace gradverify::lenet5::fused {

/// Rows without gaps become rows of `to_row` floats. A row's length is a multiple of `at_once`,
/// 1 or 4 floats, and so is `to_row`; both begin at such a multiple.
template <int at_once>
__device__ void copy_rows(float* to, int to_row, const float* from, int rows, int length) {
    const int chunks = length / at_once;
    for (int i = threadIdx.x; i < rows * chunks; i += blockDim.x)
        __pipeline_memcpy_async(to + i / chunks * to_row + i % chunks * at_once, from + i * at_once,
                                at_once * sizeof(float));
}

__device__ inline void wait_for_copies() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

}  // namespace gradverify::lenet5::fused
