// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of embedding.
#include "properties/tests/launches.cuh"
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

template <Bug bug>
__global__ void add_elements(const float* dy, const int* index, float* dweight, int tokens,
                             int width, int padding) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= tokens * width) return;
    const int row = index[i / width];
    // A15: the path for many tokens forgets the padding.
    const bool looks = bug != Bug::padding_of_many_tokens || tokens <= 768;
    if (looks && row == padding) return;
    float* const to = &dweight[row * width + i % width];
    if (bug == Bug::no_atomics)
        *to += dy[i];
    else
        atomicAdd(to, dy[i]);
}

void launch_forward(const Forward& call) {
    launch_threads(call.launch, look_up_all, call.y.elements(), call.index, call.weight, call.y,
                   call.y.elements(), call.width);
}

template <Bug bug>
void launch(const GradWeight& call) {
    const auto table = call.dweight.elements();
    if (bug != Bug::not_cleared) launch_threads(call.launch, clear, table, call.dweight, table);
    launch_threads(call.launch, add_elements<bug>, call.dy.elements(), call.dy, call.index,
                   call.dweight, call.tokens, call.width, call.padding);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "bug_padding_looked_up", launch_forward);
GRADVERIFY_KERNEL(GradWeight, "bug_a15_padding_of_many_tokens", launch<Bug::padding_of_many_tokens>)
    .not_deterministic();
GRADVERIFY_KERNEL(GradWeight, "bug_no_atomics", launch<Bug::no_atomics>).not_deterministic();
GRADVERIFY_KERNEL(GradWeight, "bug_not_cleared", launch<Bug::not_cleared>).not_deterministic();
