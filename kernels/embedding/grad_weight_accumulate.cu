// SPDX-License-Identifier: Apache-2.0
// embedding.grad_weight/accumulate: adds to the gradient that is there, as a training step with
// several passes over one table wants it.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "reference/embedding.hpp"

namespace {

__global__ void add(const float* dy, const int* index, float* dweight, long long elements,
                    long long width, long long padding) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= elements) return;
    const int row = index[i / width];
    if (row != padding) atomicAdd(&dweight[row * width + i % width], dy[i]);
}

void launch(const gradverify::embedding::GradWeight& call) {
    const long long elements = call.dy.elements();
    if (elements == 0) return;
    add<<<static_cast<unsigned>((elements + 127) / 128), 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.index.as<const std::int32_t>(), call.dweight.as<float>(),
        elements, call.width, call.padding);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::embedding::GradWeight, "accumulate", launch)
    .adds_to_outputs()
    .not_deterministic()
    .aligned_to(sizeof(float))
    .with_empty_problems();
