// SPDX-License-Identifier: Apache-2.0
// conv.grad_bias/block_reduction: a block for each output channel; threads sum strided shares,
// warps reduce by shuffles, the first warp reduces the warps.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/element.cuh"
#include "reference/conv.hpp"

namespace {

constexpr unsigned full_warp = 0xffffffffu;

__device__ float sum_of_warp(float value) {
    for (int distance = warpSize / 2; distance > 0; distance /= 2)
        value += __shfl_down_sync(full_warp, value, distance);
    return value;
}

// dy: batch, channels, pixels; db: channels. The block's size is a multiple of a warp.
__global__ void sum_channel(const float* dy, float* db, long long batch, long long channels,
                            long long pixels) {
    __shared__ float sum_of[32];
    const long long k = blockIdx.x;
    const int lane = threadIdx.x % warpSize;
    const int warp = threadIdx.x / warpSize;

    float sum = 0.0f;
    for (long long i = threadIdx.x; i < batch * pixels; i += blockDim.x)
        sum += dy[(i / pixels * channels + k) * pixels + i % pixels];
    sum = sum_of_warp(sum);
    if (lane == 0) sum_of[warp] = sum;
    __syncthreads();
    if (warp > 0) return;
    const int warps = blockDim.x / warpSize;
    sum = sum_of_warp(lane < warps ? sum_of[lane] : 0.0f);
    if (lane == 0) db[k] = sum;
}

void launch(const gradverify::conv::GradBias& call) {
    const auto blocks = static_cast<unsigned>(call.problem.k);
    sum_channel<<<blocks, call.launch.block_size, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as<float>(), call.problem.n, call.problem.k,
        call.dy.size(2) * call.dy.size(3));
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradBias, "block_reduction", launch)
    .with(declare_elements_on_stream<float>)
    .blocks_of({256, 32, 96, 1024})
    .costs({.threads_per_output = 256, .barriers_per_thread = 11});
