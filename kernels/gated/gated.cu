// SPDX-License-Identifier: Apache-2.0
// {swiglu,geglu}.{forward,backward}/naive: a thread for each element, in float.
// {swiglu,geglu}.{forward,backward}/packs: vectors of 16 bytes of both halves, in a loop over the
// grid, in float and bfloat16; dx may be written over x.
#include "kernels/kernel.cuh"
#include "kernels/rows.cuh"

namespace {

/// An activation and its slope.
struct Activated {
    float value, slope;
};
struct Silu {
    using Forward = gradverify::Pass<"swiglu", "forward">;
    using Backward = gradverify::Pass<"swiglu", "grad_x">;
    explicit Silu(const auto&) {}

    __device__ Activated operator()(float z) const {
        const float sigmoid = 1.0f / (1.0f + expf(-z));
        return {z * sigmoid, sigmoid * (1.0f + z * (1.0f - sigmoid))};
    }
};
struct Gelu {
    using Forward = gradverify::Pass<"geglu", "forward">;
    using Backward = gradverify::Pass<"geglu", "grad_x">;
    bool by_tanh;
    explicit Gelu(const auto& call) : by_tanh(call.size("tanh") == 1) {}

    __device__ Activated operator()(float z) const {
        if (by_tanh) {
            const float t = tanhf(0.79788456f * (z + 0.044715f * z * z * z));
            const float inner = 0.79788456f * (1.0f + 3.0f * 0.044715f * z * z);
            return {0.5f * z * (1.0f + t), 0.5f * (1.0f + t) + 0.5f * z * (1.0f - t * t) * inner};
        }
        const float below = 0.5f * (1.0f + erff(z * 0.70710678f));
        return {z * below, below + z * 0.39894228f * expf(-0.5f * z * z)};
    }
};

template <class Activation>
__global__ void gate_each(Activation activation, const float* x, float* y, long long elements,
                          long long width) {
    const long long i = thread_in_grid(), at = i / width * 2 * width + i % width;
    if (i < elements) y[i] = activation(x[at]).value * x[at + width];
}

template <class Activation>
__global__ void gradients_of_each(Activation activation, const float* dy, const float* x, float* dx,
                                  long long elements, long long width) {
    const long long i = thread_in_grid(), at = i / width * 2 * width + i % width;
    if (i >= elements) return;
    const auto [value, slope] = activation(x[at]);
    dx[at] = dy[i] * x[at + width] * slope;
    dx[at + width] = dy[i] * value;
}

template <class Activation>
void forward(const typename Activation::Forward& call) {
    const auto x = call.tensor("x"), y = call.tensor("y");
    if (y.elements() == 0) return;
    gate_each<<<blocks_of(y.elements(), 256), 256, 0, call.launch.stream>>>(
        Activation(call), x.template as<const float>(), y.template as<float>(), y.elements(),
        call.size("width"));
}

template <class Activation>
void backward(const typename Activation::Backward& call) {
    const auto dy = call.tensor("dy"), x = call.tensor("x"), dx = call.tensor("dx");
    if (dy.elements() == 0) return;
    gradients_of_each<<<blocks_of(dy.elements(), 256), 256, 0, call.launch.stream>>>(
        Activation(call), dy.template as<const float>(), x.template as<const float>(),
        dx.template as<float>(), dy.elements(), call.size("width"));
}

template <int count, class Activation, class T>
__global__ void gate_packs(Activation activation, const T* x, T* y, long long packs,
                           long long width) {
    for (long long pack = thread_in_grid(); pack < packs; pack += threads_in_grid()) {
        const long long i = pack * count, at = i + i / width * width;
        auto result = pack_at<count>(x + at);
        const auto up = pack_at<count>(x + at + width);
        for (int k = 0; k < count; ++k)
            result.at[k] = static_cast<T>(activation(static_cast<float>(result.at[k])).value *
                                          static_cast<float>(up.at[k]));
        pack_at<count>(y + i) = result;
    }
}

template <int count, class Activation, class T>
__global__ void gradients_of_packs(Activation activation, const T* dy, const T* x, T* dx,
                                   long long packs, long long width) {
    for (long long pack = thread_in_grid(); pack < packs; pack += threads_in_grid()) {
        const long long i = pack * count, at = i + i / width * width;
        const auto slopes = pack_at<count>(dy + i);
        auto gate = pack_at<count>(x + at), up = pack_at<count>(x + at + width);
        for (int k = 0; k < count; ++k) {
            const float of_dy = static_cast<float>(slopes.at[k]);
            const auto [value, slope] = activation(static_cast<float>(gate.at[k]));
            gate.at[k] = static_cast<T>(of_dy * static_cast<float>(up.at[k]) * slope);
            up.at[k] = static_cast<T>(of_dy * value);
        }
        pack_at<count>(dx + at) = gate;
        pack_at<count>(dx + at + width) = up;
    }
}

template <class Activation, class T>
void forward_by_packs(const typename Activation::Forward& call) {
    constexpr int full = elements_of_pack<T>;
    const auto x = call.tensor("x"), y = call.tensor("y");
    const long long width = call.size("width"), count = width % full == 0 ? full : 1;
    const long long packs = y.elements() / count;
    if (packs == 0) return;
    const auto gate =
        count == full ? gate_packs<full, Activation, T> : gate_packs<1, Activation, T>;
    const int threads = call.launch.block_size;
    gate<<<blocks_of_loop(packs, threads), threads, 0, call.launch.stream>>>(
        Activation(call), x.template as<const T>(), y.template as<T>(), packs, width);
}

template <class Activation, class T>
void backward_by_packs(const typename Activation::Backward& call) {
    constexpr int full = elements_of_pack<T>;
    const auto dy = call.tensor("dy"), x = call.tensor("x"), dx = call.tensor("dx");
    const long long width = call.size("width"), count = width % full == 0 ? full : 1;
    const long long packs = dy.elements() / count;
    if (packs == 0) return;
    const auto gradients = count == full ? gradients_of_packs<full, Activation, T>
                                         : gradients_of_packs<1, Activation, T>;
    const int threads = call.launch.block_size;
    gradients<<<blocks_of_loop(packs, threads), threads, 0, call.launch.stream>>>(
        Activation(call), dy.template as<const T>(), x.template as<const T>(), dx.template as<T>(),
        packs, width);
}

template <class T>
void declare_packs(gradverify::KernelDeclaration& kernel) {
    declare_loop<T>(kernel);
    kernel.aligned_to(16);
}

}  // namespace

#define GATED(ACTIVATION)                                                  \
    GRADVERIFY_KERNEL(ACTIVATION::Forward, "naive", forward<ACTIVATION>)   \
        .with(declare_elements_on_stream<float>);                          \
    GRADVERIFY_KERNEL(ACTIVATION::Backward, "naive", backward<ACTIVATION>) \
        .with(declare_elements_on_stream<float>);                          \
    GATED_BY_PACKS(ACTIVATION, "packs", float);                            \
    GATED_BY_PACKS(ACTIVATION, "packs_bf16", __nv_bfloat16)
#define GATED_BY_PACKS(ACTIVATION, NAME, T)                                         \
    GRADVERIFY_KERNEL(ACTIVATION::Forward, NAME, forward_by_packs<ACTIVATION, T>)   \
        .with(declare_packs<T>);                                                    \
    GRADVERIFY_KERNEL(ACTIVATION::Backward, NAME, backward_by_packs<ACTIVATION, T>) \
        .with(declare_packs<T>)                                                     \
        .in_place("dx", "x")

GATED(Silu);
GATED(Gelu);
