// SPDX-License-Identifier: Apache-2.0
// softmax_cross_entropy.forward/warp: a warp reads each row once for the largest logit and the sum,
// which is scaled when a larger one comes. Logits are float or bfloat16; the mean goes through the
// workspace, or by atomics, in an order that varies.
// softmax_cross_entropy.backward/warp and /warp_float4: a warp for each row.
#include <cuda_bf16.h>

#include <cmath>

#include "harness/kernel.hpp"
#include "kernels/grids.cuh"
#include "kernels/softmax_cross_entropy/mean.cuh"
#include "reference/softmax_cross_entropy.hpp"

namespace {

using namespace gradverify;

constexpr unsigned full_warp = 0xffffffffu;

/// The sum of exp(x - largest) over numbers x whose largest it is.
struct Online {
    float largest = -INFINITY, sum = 0.0f;

    __device__ void add(const Online& other) {
        const float larger = fmaxf(largest, other.largest);
        // Both are empty: minus infinity less itself is no number.
        if (larger == -INFINITY) return;
        sum = sum * expf(largest - larger) + other.sum * expf(other.largest - larger);
        largest = larger;
    }
};

// The mean of no rows is 0 / 0, which is NaN as it must be.
__global__ void clear_loss(float* loss, long long n) { *loss = n > 0 ? 0.0f : NAN; }

// logits, probs: n, v; labels: n. Either loss_of, n numbers, is written, or the mean added to loss.
template <class T, bool atomics>
__global__ void rows_by_warps(const T* logits, const int* labels, float* probs, float* loss,
                              long long n, long long v) {
    const long long warp = thread_in_grid() / 32;
    const int lane = threadIdx.x % 32;
    if (warp >= n) return;  // the whole warp
    const T* row = logits + warp * v;
    Online online;
    for (long long j = lane; j < v; j += 32) online.add({static_cast<float>(row[j]), 1.0f});
    for (int distance = 16; distance > 0; distance /= 2)
        online.add({__shfl_xor_sync(full_warp, online.largest, distance),
                    __shfl_xor_sync(full_warp, online.sum, distance)});
    const float scale = 1.0f / online.sum;
    for (long long j = lane; j < v; j += 32)
        probs[warp * v + j] = expf(static_cast<float>(row[j]) - online.largest) * scale;
    if (lane > 0) return;
    const int label = labels[warp];
    const float of_row = label >= 0 && label < v
                             ? logf(online.sum) - (static_cast<float>(row[label]) - online.largest)
                             : NAN;
    if constexpr (atomics)
        atomicAdd(loss, of_row / static_cast<float>(n));
    else
        loss[warp] = of_row;
}

template <class T, bool atomics>
void forward(const softmax_cross_entropy::Forward& call) {
    auto* const loss = call.loss.as<float>();
    auto* const loss_of = atomics ? loss : static_cast<float*>(call.launch.workspace);
    if constexpr (atomics) clear_loss<<<1, 1, 0, call.launch.stream>>>(loss, call.n);
    const int threads = call.launch.block_size;
    const unsigned blocks = blocks_of(call.n * 32, threads);
    if (blocks > 0)
        rows_by_warps<T, atomics><<<blocks, threads, 0, call.launch.stream>>>(
            call.logits.as<const T>(), call.labels.as<const std::int32_t>(), call.probs.as<float>(),
            loss_of, call.n, call.v);
    if constexpr (!atomics)
        softmax_cross_entropy::launch_mean(loss_of, loss, call.n, call.launch.stream);
}

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
__global__ void gradients_by_warps(const Vector* probs, const int* labels, const float* dloss,
                                   Vector* dlogits, long long n, long long columns) {
    const long long row = thread_in_grid() / 32;
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
void backward(const softmax_cross_entropy::Backward& call) {
    const int threads = call.launch.block_size;
    const unsigned blocks = blocks_of(call.n * 32, threads);
    if (blocks == 0) return;
    gradients_by_warps<<<blocks, threads, 0, call.launch.stream>>>(
        reinterpret_cast<const Vector*>(call.probs.as<const float>()),
        call.labels.as<const std::int32_t>(), call.dloss.as<const float>(),
        reinterpret_cast<Vector*>(call.dlogits.as<float>()), call.n, call.v / width_of<Vector>);
}

std::int64_t threads_of_rows(const Problem& problem) { return 32 * problem.scalar("n"); }

void declare_rows(KernelDeclaration& kernel) {
    kernel.blocks_of({128, 32, 256})
        .on_given_stream()
        .costs({.threads = threads_of_rows})
        .with_empty_problems()
        .with_invalid_indices();
}

void declare_forward(KernelDeclaration& kernel) {
    declare_rows(kernel);
    kernel.aligned_to(sizeof(float)).costs({.barriers_per_thread = 1, .threads = threads_of_rows});
}

}  // namespace

GRADVERIFY_KERNEL(softmax_cross_entropy::Forward, "warp", (forward<float, false>))
    .with(declare_forward)
    .workspace(softmax_cross_entropy::float_for_each_row);
GRADVERIFY_KERNEL(softmax_cross_entropy::Forward, "warp_bf16", (forward<__nv_bfloat16, false>))
    .with(declare_forward)
    .storage(DType::bf16)
    .storage("loss", DType::f32)
    .workspace(softmax_cross_entropy::float_for_each_row);
GRADVERIFY_KERNEL(softmax_cross_entropy::Forward, "warp_atomics", (forward<float, true>))
    .with(declare_forward)
    .not_deterministic();
GRADVERIFY_KERNEL(softmax_cross_entropy::Backward, "warp", backward<float>)
    .with(declare_rows)
    .aligned_to(sizeof(float));
GRADVERIFY_KERNEL(softmax_cross_entropy::Backward, "warp_float4", backward<float4>)
    .with(declare_rows)
    .where("v", multiple_of(4))
    .aligned_to(sizeof(float4));
