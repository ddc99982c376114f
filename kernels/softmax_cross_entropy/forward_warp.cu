// SPDX-License-Identifier: Apache-2.0
// softmax_cross_entropy.forward/warp: a warp for each row, which reads it once for the largest
// logit and the sum together: a sum relative to the largest so far is scaled whenever a larger one
// comes. Of float, and of bfloat16 logits with all else in float; the mean through the workspace,
// or by atomics, in an order that varies.
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
        // Nothing was added to either yet: minus infinity less itself is no number.
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
    const long long warp = (thread_in_grid()) / 32;
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
void launch(const softmax_cross_entropy::Forward& call) {
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

void declare(KernelDeclaration& kernel) {
    const auto threads = [](const Problem& problem) { return 32 * problem.scalar("n"); };
    kernel.blocks_of({128, 32, 256})
        .aligned_to(sizeof(float))
        .on_given_stream()
        .costs({.barriers_per_thread = 1, .threads = threads})
        .with_empty_problems()
        .with_invalid_indices();
}

}  // namespace

GRADVERIFY_KERNEL(softmax_cross_entropy::Forward, "warp", (launch<float, false>))
    .with(declare)
    .workspace(softmax_cross_entropy::float_for_each_row);
GRADVERIFY_KERNEL(softmax_cross_entropy::Forward, "warp_bf16", (launch<__nv_bfloat16, false>))
    .with(declare)
    .storage(DType::bf16)
    .storage("loss", DType::f32)
    .workspace(softmax_cross_entropy::float_for_each_row);
GRADVERIFY_KERNEL(softmax_cross_entropy::Forward, "warp_atomics", (launch<float, true>))
    .with(declare)
    .not_deterministic();
