// SPDX-License-Identifier: Apache-2.0
// Sums whose parts several blocks have left in a workspace, added in one order.
#pragma once

#include <algorithm>
#include <bit>

#include <cuda_runtime.h>

namespace gradverify::conv {

constexpr unsigned most_sharing = 16;  ///< threads of a sum

/// The threads of a column share a sum's parts, where these are many. There are never more threads
/// than 32 columns of most_sharing.
inline dim3 block_of_parts(int parts) {
    const unsigned sharing =
        parts < 32 ? 1 : std::min(std::bit_floor(static_cast<unsigned>(parts)) / 8, most_sharing);
    return {std::max(256 / sharing, 32U), sharing};
}

/// The sum of `parts` numbers, each so far from the one before; `first` is null where there is no
/// such sum. All threads of a block of block_of_parts call.
/// **Returns** the sum, in the block's first row.
__device__ inline float sum_of_parts(const float* first, int parts, long long apart) {
    __shared__ float shared[32 * most_sharing];
    const int column = static_cast<int>(threadIdx.x), columns = static_cast<int>(blockDim.x);
    const int row = static_cast<int>(threadIdx.y), rows = static_cast<int>(blockDim.y);
    float sum = 0.0f;
    constexpr int at_once = 8;
    const long long step = rows * apart;
    const float* from = first ? first + row * apart : nullptr;
    for (int part = row; from && part < parts; part += at_once * rows) {
        float some[at_once];
#pragma unroll
        for (int i = 0; i < at_once; ++i, from += step)
            some[i] = part + i * rows < parts ? *from : 0.0f;
#pragma unroll
        for (const float number : some) sum += number;
    }
    if (rows == 1) return sum;
    shared[row * columns + column] = sum;
    __syncthreads();
    if (row == 0)
        for (int other = 1; other < rows; ++other) sum += shared[other * columns + column];
    __syncthreads();  // before the next sums are written
    return sum;
}

}  // namespace gradverify::conv
