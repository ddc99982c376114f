// SPDX-License-Identifier: Apache-2.0
// embedding.forward/naive: a thread for each element of the output.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/grids.cuh"
#include "reference/embedding.hpp"

namespace {

__global__ void look_up(const int* index, const float* weight, float* y, long long elements,
                        long long width, long long padding) {
    const long long i = thread_in_grid();
    if (i >= elements) return;
    const int row = index[i / width];
    y[i] = row == padding ? 0.0f : weight[row * width + i % width];
}

void launch(const gradverify::embedding::Forward& call) {
    const long long elements = call.y.elements();
    if (elements == 0) return;
    look_up<<<blocks_of(elements, 256), 256, 0, call.launch.stream>>>(
        call.index.as<const std::int32_t>(), call.weight.as<const float>(), call.y.as<float>(),
        elements, call.width, call.padding);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::embedding::Forward, "naive", launch)
    .aligned_to(sizeof(float))
    .with_empty_problems();
