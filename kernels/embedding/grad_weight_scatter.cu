// SPDX-License-Identifier: Apache-2.0
// embedding.grad_weight/scatter: each token adds its row of dy to the table's. Few tokens take one
// thread for each column, which needs no atomics; more take one for each element.
// embedding.grad_weight/accumulate: adds to the gradient that is there, as a training step with
// several passes over one table wants it.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/grids.cuh"
#include "reference/embedding.hpp"

namespace {

constexpr long long most_by_columns = 768;

__global__ void clear(float* dweight, long long elements) {
    const long long i = thread_in_grid();
    if (i < elements) dweight[i] = 0.0f;
}

__global__ void add_by_columns(const float* dy, const int* index, float* dweight, long long tokens,
                               long long width, long long padding) {
    const long long j = thread_in_grid();
    if (j >= width) return;
    for (long long t = 0; t < tokens; ++t)
        if (index[t] != padding) dweight[index[t] * width + j] += dy[t * width + j];
}

__global__ void add_elements(const float* dy, const int* index, float* dweight, long long elements,
                             long long width, long long padding) {
    const long long i = thread_in_grid();
    if (i >= elements) return;
    const int row = index[i / width];
    if (row != padding) atomicAdd(&dweight[row * width + i % width], dy[i]);
}

void launch(const gradverify::embedding::GradWeight& call) {
    const auto* dy = call.dy.as<const float>();
    const auto* index = call.index.as<const std::int32_t>();
    auto* const dweight = call.dweight.as<float>();
    const long long table = call.dweight.elements(), elements = call.dy.elements();
    clear<<<blocks_of(table, 128), 128, 0, call.launch.stream>>>(dweight, table);
    if (call.tokens <= most_by_columns)
        add_by_columns<<<blocks_of(call.width, 128), 128, 0, call.launch.stream>>>(
            dy, index, dweight, call.tokens, call.width, call.padding);
    else
        add_elements<<<blocks_of(elements, 128), 128, 0, call.launch.stream>>>(
            dy, index, dweight, elements, call.width, call.padding);
}

void accumulate(const gradverify::embedding::GradWeight& call) {
    const long long elements = call.dy.elements();
    if (elements == 0) return;
    add_elements<<<blocks_of(elements, 128), 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.index.as<const std::int32_t>(), call.dweight.as<float>(),
        elements, call.width, call.padding);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::embedding::GradWeight, "scatter", launch)
    .not_deterministic()
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::embedding::GradWeight, "accumulate", accumulate)
    .adds_to_outputs()
    .not_deterministic()
    .aligned_to(sizeof(float))
    .with_empty_problems();
