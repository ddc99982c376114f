// SPDX-License-Identifier: Apache-2.0
// conv.grad_bias/naive: a thread for each output channel sums over batch and space.
#include <cstdint>

#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "reference/conv.hpp"

namespace {

// grad_output: batch, C_out, H_out, W_out; grad_bias: C_out.
__global__ void conv2d_backward_bias(const float* grad_output, float* grad_bias, int batch,
                                     int C_out, int H_out, int W_out) {
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= C_out) return;
    float sum = 0.0f;
    for (int b = 0; b < batch; ++b)
        for (int h = 0; h < H_out; ++h)
            for (int w = 0; w < W_out; ++w)
                sum += grad_output[((b * C_out + k) * H_out + h) * W_out + w];
    grad_bias[k] = sum;
}

void launch(const gradverify::conv::GradBias& call) {
    const int channels = static_cast<int>(call.problem.k);
    const int blocks = (channels + 255) / 256;
    conv2d_backward_bias<<<blocks, 256, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as<float>(), static_cast<int>(call.problem.n), channels,
        static_cast<int>(call.dy.size(2)), static_cast<int>(call.dy.size(3)));
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradBias, "naive", launch)
    .where("stride", gradverify::equals(1))
    .where("padding", gradverify::equals(0))
    .where("dilation", gradverify::equals(1))
    .where("groups", gradverify::equals(1))
    .where("filter_h", gradverify::same_as("filter_w"))
    .aligned_to(sizeof(float))
    .on_given_stream()
    .up_to_elements(INT32_MAX)
    .with_empty_problems();
