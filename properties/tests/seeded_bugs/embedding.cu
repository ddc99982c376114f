// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of embedding.
#include "properties/tests/launches.cuh"
#include "reference/embedding.hpp"

namespace {

using gradverify::embedding::Forward;
using gradverify::embedding::GradWeight;

enum class Bug { padding_of_many_tokens, no_atomics, not_cleared };

// Looks the padding row up like any other.
__device__ void look_up_all(int i, const int* index, const float* weight, float* y, int width) {
    y[i] = weight[index[i / width] * width + i % width];
}

__device__ void clear(int i, float* dweight) { dweight[i] = 0.0f; }

template <Bug bug>
__device__ void add_elements(int i, const float* dy, const int* index, float* dweight, int tokens,
                             int width, int padding) {
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
    launch_each<look_up_all>(call.launch, call.y.elements(), call.index, call.weight, call.y,
                             call.width);
}

template <Bug bug>
void launch(const GradWeight& call) {
    const auto table = call.dweight.elements();
    if (bug != Bug::not_cleared) launch_each<clear>(call.launch, table, call.dweight);
    launch_each<add_elements<bug>>(call.launch, call.dy.elements(), call.dy, call.index,
                                   call.dweight, call.tokens, call.width, call.padding);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "bug_padding_looked_up", launch_forward);
GRADVERIFY_KERNEL(GradWeight, "bug_a15_padding_of_many_tokens", launch<Bug::padding_of_many_tokens>)
    .not_deterministic();
GRADVERIFY_KERNEL(GradWeight, "bug_no_atomics", launch<Bug::no_atomics>).not_deterministic();
GRADVERIFY_KERNEL(GradWeight, "bug_not_cleared", launch<Bug::not_cleared>).not_deterministic();
