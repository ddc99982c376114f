// SPDX-License-Identifier: Apache-2.0
// fc.grad_bias/naive: a thread for each output feature sums over the batch.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "reference/fc.hpp"

namespace {

// grad_output: batch, out_features; grad_bias: out_features.
__global__ void fc_backward_bias(const float* grad_output, float* grad_bias, long long batch,
                                 long long out_features) {
    const long long k = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k >= out_features) return;
    float sum = 0.0f;
    for (long long b = 0; b < batch; ++b) sum += grad_output[b * out_features + k];
    grad_bias[k] = sum;
}

void launch(const gradverify::fc::GradBias& call) {
    fc_backward_bias<<<static_cast<unsigned>((call.k + 255) / 256), 256, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as<float>(), call.n, call.k);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::fc::GradBias, "naive", launch)
    .aligned_to(sizeof(float))
    .on_given_stream()
    .with_empty_problems();
