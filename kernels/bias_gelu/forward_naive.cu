// SPDX-License-Identifier: Apache-2.0
// bias_gelu.forward/naive: a thread for each element, which it may write over.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "reference/bias_gelu.hpp"

namespace {

__global__ void bias_gelu(const float* x, const float* bias, float* y, long long elements,
                          long long width) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= elements) return;
    const float z = x[i] + bias[i % width];
    y[i] = 0.5f * z * (1.0f + erff(z * 0.70710678f));
}

void launch(const gradverify::bias_gelu::Forward& call) {
    const long long elements = call.y.elements();
    if (elements == 0) return;
    const auto blocks = static_cast<unsigned>((elements + 255) / 256);
    bias_gelu<<<blocks, 256, 0, call.launch.stream>>>(call.x.as<const float>(),
                                                      call.bias.as<const float>(),
                                                      call.y.as<float>(), elements, call.width);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::bias_gelu::Forward, "naive", launch)
    .in_place("y", "x")
    .aligned_to(sizeof(float))
    .with_empty_problems();
