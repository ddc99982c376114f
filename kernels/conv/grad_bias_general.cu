// SPDX-License-Identifier: Apache-2.0
// conv.grad_bias/general: a thread for each output channel, whatever the geometry: the bias
// gradient sees only dy.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "reference/conv.hpp"

namespace {

// dy: batch, channels, pixels; db: channels.
__global__ void sum_channels(const float* dy, float* db, long long batch, long long channels,
                             long long pixels) {
    const long long k = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k >= channels) return;
    float sum = 0.0f;
    for (long long n = 0; n < batch; ++n) {
        const float* image = dy + (n * channels + k) * pixels;
        for (long long i = 0; i < pixels; ++i) sum += image[i];
    }
    db[k] = sum;
}

void launch(const gradverify::conv::GradBias& call) {
    const int threads = call.launch.block_size;
    const auto blocks = static_cast<unsigned>((call.problem.k + threads - 1) / threads);
    sum_channels<<<blocks, threads, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as<float>(), call.problem.n, call.problem.k,
        call.dy.size(2) * call.dy.size(3));
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradBias, "general", launch)
    .blocks_of({256, 64, 37})
    .aligned_to(sizeof(float))
    .on_given_stream()
    .with_empty_problems();
