// SPDX-License-Identifier: Apache-2.0
// relu.forward/naive: a thread for each element, which it may write over; of float, half and
// bfloat16.
// relu.grad_input/naive: a thread for each element; dx may lie where dy or the saved x does. Of
// float, half and bfloat16.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/element.cuh"
#include "reference/relu.hpp"

namespace {

template <class T>
__global__ void relu(const T* x, T* y, long long n) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    // So that a NaN stays one.
    if (i < n) y[i] = static_cast<Accumulator<T>>(x[i]) <= 0.0f ? static_cast<T>(0.0f) : x[i];
}

template <class T>
void forward(const gradverify::relu::Forward& call) {
    if (call.n == 0) return;
    relu<<<static_cast<unsigned>((call.n + 255) / 256), 256, 0, call.launch.stream>>>(
        call.x.as<const T>(), call.y.as<T>(), static_cast<long long>(call.n));
}

template <class T>
__global__ void mask(const T* dy, const T* x, T* dx, long long n) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) dx[i] = static_cast<Accumulator<T>>(x[i]) > 0.0f ? dy[i] : static_cast<T>(0.0f);
}

template <class T>
void grad_input(const gradverify::relu::GradInput& call) {
    if (call.n == 0) return;
    mask<<<static_cast<unsigned>((call.n + 255) / 256), 256, 0, call.launch.stream>>>(
        call.dy.as<const T>(), call.x.as<const T>(), call.dx.as<T>(),
        static_cast<long long>(call.n));
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::relu::Forward, "naive", forward<float>)
    .in_place("y", "x")
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::relu::Forward, "naive_f16", forward<__half>)
    .storage(gradverify::DType::f16)
    .in_place("y", "x")
    .aligned_to(sizeof(__half))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::relu::Forward, "naive_bf16", forward<__nv_bfloat16>)
    .storage(gradverify::DType::bf16)
    .in_place("y", "x")
    .aligned_to(sizeof(__nv_bfloat16))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::relu::GradInput, "naive", grad_input<float>)
    .in_place("dx", "dy")
    .in_place("dx", "x")
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::relu::GradInput, "naive_f16", grad_input<__half>)
    .storage(gradverify::DType::f16)
    .in_place("dx", "dy")
    .in_place("dx", "x")
    .aligned_to(sizeof(__half))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::relu::GradInput, "naive_bf16", grad_input<__nv_bfloat16>)
    .storage(gradverify::DType::bf16)
    .in_place("dx", "dy")
    .in_place("dx", "x")
    .aligned_to(sizeof(__nv_bfloat16))
    .with_empty_problems();
