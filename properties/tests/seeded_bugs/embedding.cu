// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of embedding. Linked into the tests only; lists.hpp says which property must kill
// each, and at which problem.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/grids.cuh"
#include "reference/embedding.hpp"

namespace {

using gradverify::embedding::Forward;
using gradverify::embedding::GradWeight;

enum class Bug { padding_of_many_tokens, no_atomics, not_cleared };

// Looks the padding row up like any other.
__global__ void look_up_all(const int* index, const float* weight, float* y, int elements,
                            int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements) y[i] = weight[index[i / width] * width + i % width];
}

__global__ void clear(float* dweight, int elements) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements) dweight[i] = 0.0f;
}

struct Sizes {
    int tokens, width, padding;
};

template <Bug bug>
__global__ void add_elements(const float* dy, const int* index, float* dweight, Sizes s) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.tokens * s.width) return;
    const int row = index[i / s.width];
    // A15: the path for many tokens forgets the padding.
    const bool looks = bug != Bug::padding_of_many_tokens || s.tokens <= 768;
    if (looks && row == s.padding) return;
    float* const to = &dweight[row * s.width + i % s.width];
    if (bug == Bug::no_atomics)
        *to += dy[i];
    else
        atomicAdd(to, dy[i]);
}

void launch_forward(const Forward& call) {
    const int elements = static_cast<int>(call.y.elements());
    look_up_all<<<blocks_of(elements, 128), 128, 0, call.launch.stream>>>(
        call.index.as<const std::int32_t>(), call.weight.as<const float>(), call.y.as<float>(),
        elements, static_cast<int>(call.width));
}

template <Bug bug>
void launch(const GradWeight& call) {
    const int table = static_cast<int>(call.dweight.elements());
    if (bug != Bug::not_cleared)
        clear<<<blocks_of(table, 128), 128, 0, call.launch.stream>>>(call.dweight.as<float>(),
                                                                     table);
    add_elements<bug><<<blocks_of(call.dy.elements(), 128), 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.index.as<const std::int32_t>(), call.dweight.as<float>(),
        {static_cast<int>(call.tokens), static_cast<int>(call.width),
         static_cast<int>(call.padding)});
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "bug_padding_looked_up", launch_forward);
GRADVERIFY_KERNEL(GradWeight, "bug_a15_padding_of_many_tokens", launch<Bug::padding_of_many_tokens>)
    .not_deterministic();
GRADVERIFY_KERNEL(GradWeight, "bug_no_atomics", launch<Bug::no_atomics>).not_deterministic();
GRADVERIFY_KERNEL(GradWeight, "bug_not_cleared", launch<Bug::not_cleared>).not_deterministic();
