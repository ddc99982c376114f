// SPDX-License-Identifier: Apache-2.0
// fc.grad_input/naive: a thread for each element of the input's gradient.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "reference/fc.hpp"

namespace {

// grad_output: batch, out_features; weights: out_features, in_features;
// grad_input: batch, in_features.
__global__ void fc_backward_input(const float* grad_output, const float* weights, float* grad_input,
                                  long long batch, long long in_features, long long out_features) {
    const long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= batch * in_features) return;
    const long long c = index % in_features;
    const long long b = index / in_features;
    float sum = 0.0f;
    for (long long k = 0; k < out_features; ++k)
        sum += grad_output[b * out_features + k] * weights[k * in_features + c];
    grad_input[index] = sum;
}

void launch(const gradverify::fc::GradInput& call) {
    const long long inputs = call.dx.elements();
    if (inputs == 0) return;
    fc_backward_input<<<static_cast<unsigned>((inputs + 255) / 256), 256, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.w.as<const float>(), call.dx.as<float>(), call.n, call.c,
        call.k);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::fc::GradInput, "naive", launch)
    .aligned_to(sizeof(float))
    .on_given_stream()
    .with_empty_problems();
