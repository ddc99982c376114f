// SPDX-License-Identifier: Apache-2.0
// Adds partial sums up, in a fixed order, and puts them where the caller wants them.
#pragma once

#include "kernels/lenet5/fused_network.cuh"

namespace gradverify::lenet5::fused {

constexpr int sum_columns = 32, sum_rows = 8;  ///< numbers of a block, threads of a number

/// Consecutive numbers of a partial sum, and where they go.
struct Segment {
    float* to;
    int length;
};

/// `parts` partial sums of `length` numbers, which are consecutive segments.
struct PartialSums {
    static constexpr int most_segments = 6;
    const float* sums;
    int parts, length;
    Segment segments[most_segments];

    GRADVERIFY_BOTH int blocks() const { return ceil_div(length, sum_columns); }
};

struct SumsCall {
    PartialSums of_conv, of_fc, of_loss;
};

/// All partial sums, in blocks of `sum_columns x sum_rows` threads.
static __global__ void __launch_bounds__(sum_columns* sum_rows) add_up(SumsCall call) {
    __shared__ float of_rows[sum_rows][sum_columns];
    int block = blockIdx.x;
    const auto add = [&](const PartialSums& partial) {
        int i = block * sum_columns + threadIdx.x;
        float sum = 0.0f;
        if (i < partial.length)
#pragma unroll 8
            for (int part = threadIdx.y; part < partial.parts; part += sum_rows)
                sum += partial.sums[static_cast<std::size_t>(part) * partial.length + i];
        of_rows[threadIdx.y][threadIdx.x] = sum;
        __syncthreads();
        if (threadIdx.y > 0 || i >= partial.length) return;
#pragma unroll
        for (int row = 1; row < sum_rows; ++row) sum += of_rows[row][threadIdx.x];
        int s = 0;
        while (i >= partial.segments[s].length) i -= partial.segments[s++].length;
        partial.segments[s].to[i] = sum;
    };
    if (block < call.of_conv.blocks()) return add(call.of_conv);
    block -= call.of_conv.blocks();
    if (block < call.of_fc.blocks()) return add(call.of_fc);
    block -= call.of_fc.blocks();
    add(call.of_loss);
}

}  // namespace gradverify::lenet5::fused
