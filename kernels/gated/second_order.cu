// SPDX-License-Identifier: Apache-2.0
// swiglu.backward.{grad_dy,grad_x,double_backward}/naive and swiglu.forward.jvp/naive: a thread for
// each element, in float.
// The same /packs: vectors of 16 bytes of both halves, in a loop over the grid, in float and
// bfloat16.
//
//   y = act(a) b,  act(a) = a s,  s = sigmoid(a)
//   ty = act'(a) b ta + act(a) tb, which is ddy along ta = dda, tb = ddb
//   da = dy (act''(a) b dda + act'(a) ddb),  db = dy act'(a) dda
#include "kernels/kernel.cuh"
#include "kernels/rows.cuh"

namespace {

using gradverify::Pass;
using GradDy = Pass<"swiglu.backward", "grad_dy">;
using GradX = Pass<"swiglu.backward", "grad_x">;
using DoubleBackward = Pass<"swiglu.backward", "double_backward">;
using Jvp = Pass<"swiglu.forward", "jvp">;

/// The activation x sigmoid(x), its slope, and the slope's.
struct Silu {
    float value, slope, curvature;

    __device__ explicit Silu(float z) {
        const float s = 1.0f / (1.0f + expf(-z));
        value = z * s;
        slope = s * (1.0f + z * (1.0f - s));
        curvature = s * (1.0f - s) * (2.0f + z * (1.0f - 2.0f * s));
    }
};

/// What a kernel reads and writes; a null pointer where its pass does not have the tensor.
template <class T>
struct Tensors {
    const T *x, *along;  ///< both halves; along: ddx, or tx
    const T* dy = nullptr;
    T* result = nullptr;  ///< ddy, or ty
    T* dx = nullptr;
};

template <int count, class T>
__global__ void differentiate(Tensors<T> of, long long packs, long long width) {
    for (long long pack = thread_in_grid(); pack < packs; pack += threads_in_grid()) {
        const long long i = pack * count, at = i + i / width * width;
        const auto gate = pack_at<count>(of.x + at), up = pack_at<count>(of.x + at + width);
        const auto gate_along = pack_at<count>(of.along + at);
        const auto up_along = pack_at<count>(of.along + at + width);
        Pack<T, count> result, by_gate, by_up;
        for (int k = 0; k < count; ++k) {
            const Silu act(static_cast<float>(gate.at[k]));
            const float b = static_cast<float>(up.at[k]);
            const float ta = static_cast<float>(gate_along.at[k]);
            const float tb = static_cast<float>(up_along.at[k]);
            result.at[k] = static_cast<T>(act.slope * b * ta + act.value * tb);
            if (of.dy == nullptr) continue;
            const float dy = static_cast<float>(of.dy[i + k]);
            by_gate.at[k] = static_cast<T>(dy * (act.curvature * b * ta + act.slope * tb));
            by_up.at[k] = static_cast<T>(dy * act.slope * ta);
        }
        if (of.result) pack_at<count>(of.result + i) = result;
        if (of.dx == nullptr) continue;
        pack_at<count>(of.dx + at) = by_gate;
        pack_at<count>(of.dx + at + width) = by_up;
    }
}

template <class T>
Tensors<T> tensors_of(const auto& call, const char* along) {
    return {call.tensor("x").template as<const T>(), call.tensor(along).template as<const T>()};
}
template <class T>
Tensors<T> tensors_of(const GradDy& call) {
    auto of = tensors_of<T>(call, "ddx");
    of.result = call.tensor("ddy").as<T>();
    return of;
}
template <class T>
Tensors<T> tensors_of(const GradX& call) {
    auto of = tensors_of<T>(call, "ddx");
    of.dy = call.tensor("dy").as<const T>();
    of.dx = call.tensor("dx").as<T>();
    return of;
}
template <class T>
Tensors<T> tensors_of(const DoubleBackward& call) {
    auto of = tensors_of<T>(call, "ddx");
    of.dy = call.tensor("dy").as<const T>();
    of.result = call.tensor("ddy").as<T>();
    of.dx = call.tensor("dx").as<T>();
    return of;
}
template <class T>
Tensors<T> tensors_of(const Jvp& call) {
    auto of = tensors_of<T>(call, "tx");
    of.result = call.tensor("ty").as<T>();
    return of;
}

template <class Pass>
void naive(const Pass& call) {
    const long long width = call.size("width"), elements = call.size("rows") * width;
    if (elements == 0) return;
    differentiate<1><<<blocks_of(elements, 256), 256, 0, call.launch.stream>>>(
        tensors_of<float>(call), elements, width);
}

template <class Pass, class T>
void by_packs(const Pass& call) {
    constexpr int full = elements_of_pack<T>;
    const long long width = call.size("width"), count = width % full == 0 ? full : 1;
    const long long packs = call.size("rows") * width / count;
    if (packs == 0) return;
    const auto kernel = count == full ? differentiate<full, T> : differentiate<1, T>;
    const int threads = call.launch.block_size;
    kernel<<<blocks_of_loop(packs, threads), threads, 0, call.launch.stream>>>(tensors_of<T>(call),
                                                                               packs, width);
}

}  // namespace

#define SECOND_ORDER(PASS)                                                                 \
    GRADVERIFY_KERNEL(PASS, "naive", naive<PASS>).with(declare_elements_on_stream<float>); \
    GRADVERIFY_KERNEL(PASS, "packs", by_packs<PASS, float>)                                \
        .with(declare_loop<float>)                                                         \
        .aligned_to(16);                                                                   \
    GRADVERIFY_KERNEL(PASS, "packs_bf16", by_packs<PASS, __nv_bfloat16>)                   \
        .with(declare_loop<__nv_bfloat16>)                                                 \
        .aligned_to(16)

SECOND_ORDER(GradDy);
SECOND_ORDER(GradX);
SECOND_ORDER(DoubleBackward);
SECOND_ORDER(Jvp);
