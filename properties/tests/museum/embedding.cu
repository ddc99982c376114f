// SPDX-License-Identifier: Apache-2.0
// The museum's pieces of embedding.
#include "properties/tests/museum/pair.cuh"
#include "reference/embedding.hpp"

namespace {

using namespace gradverify;
using embedding::GradWeight;

constexpr int warp = 32;

// The second warp stages the indices of a batch of tokens, the first adds up their rows.
template <bool is_fixed>
__global__ void by_batches(const float* dy, const int* index, float* dweight, int tokens, int width,
                           int padding) {
    __shared__ int staged[warp];
    const int lane = threadIdx.x % warp;
    const bool stages = threadIdx.x >= warp;
    for (int batch = 0; batch < tokens; batch += warp) {
        const int count = min(warp, tokens - batch);
        if (stages && lane < count) staged[lane] = index[batch + lane];
        __syncthreads();
        for (int t = 0; t < count && !stages; ++t)
            for (int j = lane; j < width && staged[t] != padding; j += warp)
                dweight[staged[t] * width + j] += dy[(batch + t) * width + j];
        if (is_fixed) __syncthreads();
    }
}

template <bool is_fixed>
void launch_by_batches(const GradWeight& call) {
    clear(call.dweight, call.launch);
    launch_blocks(call.launch, by_batches<is_fixed>, 1, 2 * warp, call.dy, call.index, call.dweight,
                  call.tokens, call.width, call.padding);
}

// Another path for long inputs, which knows no padding.
template <bool is_fixed>
__device__ void add_row(int i, const float* dy, const int* index, float* dweight, int tokens,
                        int width, int padding) {
    const int row = index[i / width];
    if (row == padding && (is_fixed || tokens <= 768)) return;
    atomicAdd(&dweight[row * width + i % width], dy[i]);
}

// The gradient of a look-up that sets where rows that are looked up twice have to add.
template <bool is_fixed>
__device__ void set_row(int i, const float* dy, const int* index, float* dweight, int, int width,
                        int padding) {
    const int row = index[i / width];
    if (row == padding) return;
    float* const to = &dweight[row * width + i % width];
    if (is_fixed)
        atomicAdd(to, dy[i]);
    else
        *to = dy[i];
}

template <auto function>
void launch_rows(const GradWeight& call) {
    clear(call.dweight, call.launch);
    launch_each<function>(call.launch, call.dy.elements(), call.dy, call.index, call.dweight,
                          call.tokens, call.width, call.padding);
}
template <bool is_fixed>
void launch_added(const GradWeight& call) {
    launch_rows<add_row<is_fixed>>(call);
}
template <bool is_fixed>
void launch_set(const GradWeight& call) {
    launch_rows<set_row<is_fixed>>(call);
}

}  // namespace

GRADVERIFY_MUSEUM_PAIR(GradWeight, "batch_without_barrier", launch_by_batches, declare_piece);
GRADVERIFY_MUSEUM_PAIR(GradWeight, "padding_of_long_inputs", launch_added, declare_atomics);
GRADVERIFY_MUSEUM_PAIR(GradWeight, "last_of_duplicates", launch_set, declare_atomics);
