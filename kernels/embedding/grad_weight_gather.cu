// SPDX-License-Identifier: Apache-2.0
// embedding.grad_weight/gather: a thread for each element of the table looks at every token.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/grids.cuh"
#include "reference/embedding.hpp"

namespace {

__global__ void gather(const float* dy, const int* index, float* dweight, long long tokens,
                       long long elements, long long width, long long padding) {
    const long long i = thread_in_grid();
    if (i >= elements) return;
    const long long row = i / width;
    float sum = 0.0f;
    for (long long t = 0; t < tokens && row != padding; ++t)
        if (index[t] == row) sum += dy[t * width + i % width];
    dweight[i] = sum;
}

void launch(const gradverify::embedding::GradWeight& call) {
    const long long elements = call.dweight.elements();
    gather<<<blocks_of(elements, 64), 64, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.index.as<const std::int32_t>(), call.dweight.as<float>(),
        call.tokens, elements, call.width, call.padding);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::embedding::GradWeight, "gather", launch)
    .aligned_to(sizeof(float))
    .with_empty_problems();
