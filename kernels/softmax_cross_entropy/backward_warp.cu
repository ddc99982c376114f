// SPDX-License-Identifier: Apache-2.0
// softmax_cross_entropy.backward/warp and /warp_float4: a warp for each row, one number or four at
// once for each thread.
#include <cuda_runtime.h>

#include <cmath>

#include "harness/kernel.hpp"
#include "kernels/grids.cuh"
#include "reference/softmax_cross_entropy.hpp"

namespace {

using namespace gradverify;

template <class Vector>
constexpr long long width_of = sizeof(Vector) / sizeof(float);

__device__ void subtract_at(float& value, long long column, long long label) {
    if (column == label) value -= 1.0f;
}
__device__ void subtract_at(float4& values, long long column, long long label) {
    subtract_at(values.x, column * 4, label);
    subtract_at(values.y, column * 4 + 1, label);
    subtract_at(values.z, column * 4 + 2, label);
    subtract_at(values.w, column * 4 + 3, label);
}
__device__ float times(float value, float scale) { return value * scale; }
__device__ float4 times(const float4& values, float scale) {
    return {values.x * scale, values.y * scale, values.z * scale, values.w * scale};
}

// probs, dlogits: n rows of `columns` vectors; labels: n; dloss: a single number.
template <class Vector>
__global__ void rows_by_warps(const Vector* probs, const int* labels, const float* dloss,
                              Vector* dlogits, long long n, long long columns) {
    const long long row = (thread_in_grid()) / 32;
    if (row >= n) return;
    const long long label = labels[row];
    const bool is_valid = label >= 0 && label < columns * width_of<Vector>;
    const float scale = is_valid ? *dloss / static_cast<float>(n) : NAN;
    for (long long j = threadIdx.x % 32; j < columns; j += 32) {
        Vector value = probs[row * columns + j];
        subtract_at(value, j, label);
        dlogits[row * columns + j] = times(value, scale);
    }
}

template <class Vector>
void launch(const softmax_cross_entropy::Backward& call) {
    const int threads = call.launch.block_size;
    const unsigned blocks = blocks_of(call.n * 32, threads);
    if (blocks == 0) return;
    rows_by_warps<<<blocks, threads, 0, call.launch.stream>>>(
        reinterpret_cast<const Vector*>(call.probs.as<const float>()),
        call.labels.as<const std::int32_t>(), call.dloss.as<const float>(),
        reinterpret_cast<Vector*>(call.dlogits.as<float>()), call.n, call.v / width_of<Vector>);
}

void declare(KernelDeclaration& kernel) {
    kernel.blocks_of({128, 32, 256})
        .on_given_stream()
        .costs({.threads = [](const Problem& problem) { return 32 * problem.scalar("n"); }})
        .with_empty_problems()
        .with_invalid_indices();
}

}  // namespace

GRADVERIFY_KERNEL(softmax_cross_entropy::Backward, "warp", launch<float>)
    .with(declare)
    .aligned_to(sizeof(float));
GRADVERIFY_KERNEL(softmax_cross_entropy::Backward, "warp_float4", launch<float4>)
    .with(declare)
    .where("v", multiple_of(4))
    .aligned_to(sizeof(float4));
