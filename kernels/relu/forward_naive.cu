// SPDX-License-Identifier: Apache-2.0
// relu.forward/naive: a thread for each element, which it may write over; of float, half and
// bfloat16.
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
void launch(const gradverify::relu::Forward& call) {
    if (call.n == 0) return;
    relu<<<static_cast<unsigned>((call.n + 255) / 256), 256, 0, call.launch.stream>>>(
        call.x.as<const T>(), call.y.as<T>(), static_cast<long long>(call.n));
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::relu::Forward, "naive", launch<float>)
    .in_place("y", "x")
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::relu::Forward, "naive_f16", launch<__half>)
    .storage(gradverify::DType::f16)
    .in_place("y", "x")
    .aligned_to(sizeof(__half))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::relu::Forward, "naive_bf16", launch<__nv_bfloat16>)
    .storage(gradverify::DType::bf16)
    .in_place("y", "x")
    .aligned_to(sizeof(__nv_bfloat16))
    .with_empty_problems();
