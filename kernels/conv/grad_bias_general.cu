// SPDX-License-Identifier: Apache-2.0
// conv.grad_bias/general: a thread for each output channel, whatever the geometry: the bias
// gradient sees only dy.
// conv.grad_bias/naive: the same as somebody would register it whose convolutions are all plain.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/element.cuh"
#include "kernels/grids.cuh"
#include "reference/conv.hpp"

namespace {

// dy: batch, channels, pixels; db: channels.
__global__ void sum_channels(const float* dy, float* db, long long batch, long long channels,
                             long long pixels) {
    const long long k = thread_in_grid();
    if (k >= channels) return;
    float sum = 0.0f;
    for (long long n = 0; n < batch; ++n) {
        const float* image = dy + (n * channels + k) * pixels;
        for (long long i = 0; i < pixels; ++i) sum += image[i];
    }
    db[k] = sum;
}

void launch(const gradverify::conv::GradBias& call) {
    const int threads = call.launch.block_size > 0 ? call.launch.block_size : 256;
    sum_channels<<<blocks_of(call.problem.k, threads), threads, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as<float>(), call.problem.n, call.problem.k,
        call.dy.size(2) * call.dy.size(3));
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradBias, "general", launch).with(declare_loop<float>);
GRADVERIFY_KERNEL(gradverify::conv::GradBias, "naive", launch)
    .where("stride", gradverify::equals(1))
    .where("padding", gradverify::equals(0))
    .where("dilation", gradverify::equals(1))
    .where("groups", gradverify::equals(1))
    .where("filter_h", gradverify::same_as("filter_w"))
    .with(declare_elements_on_stream<float>)
    .up_to_elements(INT32_MAX);
