// SPDX-License-Identifier: Apache-2.0
// fc.grad_weight/naive: a thread for each weight sums over the batch.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "reference/fc.hpp"

namespace {

// grad_output: batch, out_features; input: batch, in_features;
// grad_weights: out_features, in_features.
__global__ void fc_backward_weights(const float* grad_output, const float* input,
                                    float* grad_weights, long long batch, long long in_features,
                                    long long out_features) {
    const long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= out_features * in_features) return;
    const long long c = index % in_features;
    const long long k = index / in_features;
    float sum = 0.0f;
    for (long long b = 0; b < batch; ++b)
        sum += grad_output[b * out_features + k] * input[b * in_features + c];
    grad_weights[index] = sum;
}

void launch(const gradverify::fc::GradWeight& call) {
    const long long weights = call.dw.elements();
    fc_backward_weights<<<static_cast<unsigned>((weights + 255) / 256), 256, 0,
                          call.launch.stream>>>(call.dy.as<const float>(), call.x.as<const float>(),
                                                call.dw.as<float>(), call.n, call.c, call.k);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::fc::GradWeight, "naive", launch)
    .aligned_to(sizeof(float))
    .on_given_stream()
    .with_empty_problems();
