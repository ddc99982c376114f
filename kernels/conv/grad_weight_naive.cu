// SPDX-License-Identifier: Apache-2.0
// conv.grad_weight/naive: a thread for each weight walks over batch and output. The plain case
// only: stride 1, no padding, dilation 1, one group, a square filter.
#include <cstdint>

#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "reference/conv.hpp"

namespace {

// grad_output: batch, C_out, H_out, W_out; input: batch, C_in, H, W; grad_weights: C_out, C_in, F,
// F.
__global__ void conv2d_backward_weights(const float* grad_output, const float* input,
                                        float* grad_weights, int batch, int C_in, int H, int W,
                                        int C_out, int F) {
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= C_out * C_in * F * F) return;
    const int fw = index % F;
    const int fh = index / F % F;
    const int c = index / (F * F) % C_in;
    const int k = index / (F * F * C_in);
    const int H_out = H - F + 1;
    const int W_out = W - F + 1;

    float sum = 0.0f;
    for (int b = 0; b < batch; ++b)
        for (int h = 0; h < H_out; ++h)
            for (int w = 0; w < W_out; ++w)
                sum += grad_output[((b * C_out + k) * H_out + h) * W_out + w] *
                       input[((b * C_in + c) * H + h + fh) * W + w + fw];
    grad_weights[index] = sum;
}

void launch(const gradverify::conv::GradWeight& call) {
    const auto& p = call.problem;
    const int threads = 256;
    // In 64 bits: with the last blocks' worth of weights below 2^31 the sum has no place in an int.
    const auto blocks = static_cast<int>((call.dw.elements() + threads - 1) / threads);
    conv2d_backward_weights<<<blocks, threads, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.x.as<const float>(), call.dw.as<float>(),
        static_cast<int>(p.n), static_cast<int>(p.c), static_cast<int>(p.h().in),
        static_cast<int>(p.w().in), static_cast<int>(p.k), static_cast<int>(p.h().filter));
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "naive", launch)
    .where("stride", gradverify::equals(1))
    .where("padding", gradverify::equals(0))
    .where("dilation", gradverify::equals(1))
    .where("groups", gradverify::equals(1))
    .where("filter_h", gradverify::same_as("filter_w"))
    .contiguous()
    .aligned_to(sizeof(float))
    .on_given_stream()
    .up_to_elements(INT32_MAX)
    .with_empty_problems();
