// SPDX-License-Identifier: Apache-2.0
// Kernels as strangers write them: gradients from a saved output, and sums whose order follows
// addresses. Beside each right one stand wrong ones.
#include <cuda_bf16.h>

#include <cstdint>

#include "properties/tests/launches.cuh"

namespace {

using gradverify::launch_each;

// ---- what is behind a slab is the saved image less the sum up to there

using Slabs = gradverify::Pass<"slabs", "backward">;
using StoppedSlabs = gradverify::Pass<"stopped_slabs", "backward">;
enum class Slab { right, sum_without_own, stops_early };

/// A thread for each ray.
template <Slab how>
__device__ void slabs_from_y(int ray, const float* dy, const float* x, const float* c,
                             const float* y, float* dx, int rays, int n, int colours) {
    for (int i = 0; i < n; ++i) dx[ray * n + i] = 0.0f;
    for (int k = 0; k < colours; ++k) {
        float left = 1.0f, sum = 0.0f;
        for (int i = 0; i < n; ++i) {
            const float colour = c[(ray * n + i) * colours + k];
            const float through = expf(-x[ray * n + i]);
            const float own = left * (1.0f - through) * colour;
            if (left <= 0.0f) break;
            if (how == Slab::stops_early && left < 1e-2f) break;
            if (how != Slab::sum_without_own) sum += own;
            left *= through;
            dx[ray * n + i] += dy[k * rays + ray] * (left * colour - (y[k * rays + ray] - sum));
            if (how == Slab::sum_without_own) sum += own;
        }
    }
}
template <Slab how, class Call = Slabs>
void slabs(const Call& call) {
    launch_each<slabs_from_y<how>>(call.launch, call.size("rays"), call.tensor("dy"),
                                   call.tensor("x"), call.tensor("c"), call.tensor("y"),
                                   call.tensor("dx"), call.size("rays"), call.size("n"),
                                   call.size("colours"));
}

// ---- what is left of a product is one less its complement

using Blend = gradverify::Pass<"blend", "backward">;
/// The wrong one has an epsilon in a divisor, as against a division by zero.
template <bool is_wrong>
__device__ void blend_from_y(int i, const float* dy, const float* x, const float* y, float* dx,
                             int n) {
    const float p = 1.0f / (1.0f + expf(-x[i]));
    dx[i] = dy[i / n] * (1.0f - y[i / n]) * p * (is_wrong ? (1.0f - p) / (1.001f - p) : 1.0f);
}
template <bool is_wrong>
void blend(const Blend& call) {
    launch_each<blend_from_y<is_wrong>>(call.launch, call.size("pixels") * call.size("n"),
                                        call.tensor("dy"), call.tensor("x"), call.tensor("y"),
                                        call.tensor("dx"), call.size("n"));
}

using Saturation = gradverify::Pass<"saturation", "backward">;
template <bool is_wrong>
__device__ void saturation_from_y(int i, const float* dy, const float* y, float* dx, int n) {
    const float s = y[i / n];
    dx[i] = dy[i / n] * (is_wrong ? 1.0f - s * s : 1.0f - s);
}
template <bool is_wrong>
void saturation(const Saturation& call) {
    launch_each<saturation_from_y<is_wrong>>(call.launch, call.size("rows") * call.size("n"),
                                             call.tensor("dy"), call.tensor("y"), call.tensor("dx"),
                                             call.size("n"));
}

// ---- the reference takes the saved output in few digits, the kernel does not

using SavedTanh = gradverify::Pass<"saved_tanh", "backward">;
template <bool is_wrong>
__device__ void tanh_from_x(int i, const __nv_bfloat16* dy, const __nv_bfloat16* x,
                            __nv_bfloat16* dx) {
    const float t = tanhf(__bfloat162float(x[i]));
    dx[i] = __float2bfloat16(__bfloat162float(dy[i]) * (1.0f - (is_wrong ? t * 0.97f : t) * t));
}
template <bool is_wrong>
void saved_tanh(const SavedTanh& call) {
    launch_each<tanh_from_x<is_wrong>>(call.launch, call.size("n"), call.tensor("dy"),
                                       call.tensor("x"), call.tensor("dx"));
}

// ---- what lies before the first multiple of 16 bytes is summed apart

using RowSums = gradverify::Pass<"row_sums", "forward">;
enum class Head { apart, left_out, from_before };

template <Head how>
__device__ void row_sum(int row, const float* x, float* y, int n) {
    x += row * n;
    const int head = static_cast<int>((16 - reinterpret_cast<std::uintptr_t>(x) % 16) % 16 / 4);
    float first = 0.0f, rest = 0.0f;
    for (int i = how == Head::left_out ? head : 0; i < n; ++i)
        (i < head ? first : rest) += expf(x[i] * 0.001f);
    // As if the row began with its first whole vector.
    if (how == Head::from_before && row == 0 && head > 0) first += 1e-3f * x[-1];
    y[row] = first + rest;
}
template <Head how>
void row_sums(const RowSums& call) {
    launch_each<row_sum<how>>(call.launch, call.size("rows"), call.tensor("x"), call.tensor("y"),
                              call.size("n"));
}

}  // namespace

GRADVERIFY_KERNEL(Slabs, "from_y", slabs<Slab::right>);
GRADVERIFY_KERNEL(Slabs, "bug_sum_without_own", slabs<Slab::sum_without_own>);
GRADVERIFY_KERNEL(Slabs, "bug_stops_early", slabs<Slab::stops_early>);
GRADVERIFY_KERNEL(StoppedSlabs, "from_y", (slabs<Slab::right, StoppedSlabs>));
GRADVERIFY_KERNEL(StoppedSlabs, "bug_sum_without_own",
                  (slabs<Slab::sum_without_own, StoppedSlabs>));
GRADVERIFY_KERNEL(Blend, "from_y", blend<false>);
GRADVERIFY_KERNEL(Blend, "bug_epsilon", blend<true>);
GRADVERIFY_KERNEL(Saturation, "from_y", saturation<false>);
GRADVERIFY_KERNEL(Saturation, "bug_square", saturation<true>);
GRADVERIFY_KERNEL(SavedTanh, "from_x", saved_tanh<false>).storage(gradverify::DType::bf16);
GRADVERIFY_KERNEL(SavedTanh, "bug_factor", saved_tanh<true>).storage(gradverify::DType::bf16);
GRADVERIFY_KERNEL(RowSums, "by_address", row_sums<Head::apart>).aligned_to(4);
GRADVERIFY_KERNEL(RowSums, "by_address_in_any_order", row_sums<Head::apart>)
    .aligned_to(4)
    .not_deterministic();
GRADVERIFY_KERNEL(RowSums, "bug_head_left_out", row_sums<Head::left_out>).aligned_to(4);
GRADVERIFY_KERNEL(RowSums, "bug_from_before", row_sums<Head::from_before>).aligned_to(4);
