// SPDX-License-Identifier: Apache-2.0
// embedding.forward/naive: a thread for each element of the output.
// embedding.grad_weight/gather: a thread for each element of the table looks at every token.
// embedding.grad_weight/scatter: each token adds its row of dy to the table's. Few tokens take one
// thread for each column, which needs no atomics; more take one for each element.
// embedding.grad_weight/accumulate: adds to the gradient that is there.
#include "kernels/kernel.cuh"
#include "reference/embedding.hpp"

namespace {

using namespace gradverify::embedding;

__global__ void look_up(const int* index, const float* weight, float* y, long long elements,
                        long long width, long long padding) {
    const long long i = thread_in_grid();
    if (i >= elements) return;
    const int row = index[i / width];
    y[i] = row == padding ? 0.0f : weight[row * width + i % width];
}

void forward(const Forward& call) {
    const long long elements = call.y.elements();
    if (elements == 0) return;
    look_up<<<blocks_of(elements, 256), 256, 0, call.launch.stream>>>(
        call.index.as<const std::int32_t>(), call.weight.as<const float>(), call.y.as<float>(),
        elements, call.width, call.padding);
}

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

void grad_weight_by_gather(const GradWeight& call) {
    const long long elements = call.dweight.elements();
    gather<<<blocks_of(elements, 64), 64, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.index.as<const std::int32_t>(), call.dweight.as<float>(),
        call.tokens, elements, call.width, call.padding);
}

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

void accumulate(const GradWeight& call) {
    const long long elements = call.dy.elements();
    if (elements == 0) return;
    add_elements<<<blocks_of(elements, 128), 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.index.as<const std::int32_t>(), call.dweight.as<float>(),
        elements, call.width, call.padding);
}

void grad_weight_by_scatter(const GradWeight& call) {
    auto* const dweight = call.dweight.as<float>();
    const long long table = call.dweight.elements();
    clear<<<blocks_of(table, 128), 128, 0, call.launch.stream>>>(dweight, table);
    if (call.tokens > most_by_columns) return accumulate(call);
    add_by_columns<<<blocks_of(call.width, 128), 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.index.as<const std::int32_t>(), dweight, call.tokens,
        call.width, call.padding);
}

void declare_atomics(gradverify::KernelDeclaration& kernel) {
    declare_elements<float>(kernel);
    kernel.not_deterministic();
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "naive", forward).with(declare_elements<float>);
GRADVERIFY_KERNEL(GradWeight, "gather", grad_weight_by_gather).with(declare_elements<float>);
GRADVERIFY_KERNEL(GradWeight, "scatter", grad_weight_by_scatter).with(declare_atomics);
GRADVERIFY_KERNEL(GradWeight, "accumulate", accumulate).with(declare_atomics).adds_to_outputs();
