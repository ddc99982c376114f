// SPDX-License-Identifier: Apache-2.0
// fc.forward/naive: a thread for each element of the output; of float and of half, with sums in
// float.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/element.cuh"
#include "reference/fc.hpp"

namespace {

// input: batch, in_features; weights: out_features, in_features; bias: out_features;
// output: batch, out_features.
template <class T>
__global__ void fc_forward(const T* input, const T* weights, const T* bias, T* output,
                           long long batch, long long in_features, long long out_features) {
    using Sum = Accumulator<T>;
    const long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= batch * out_features) return;
    const long long k = index % out_features;
    const long long b = index / out_features;
    Sum sum = static_cast<Sum>(bias[k]);
    for (long long c = 0; c < in_features; ++c)
        sum += static_cast<Sum>(input[b * in_features + c]) *
               static_cast<Sum>(weights[k * in_features + c]);
    output[index] = static_cast<T>(sum);
}

template <class T>
void launch(const gradverify::fc::Forward& call) {
    const long long outputs = call.y.elements();
    if (outputs == 0) return;
    fc_forward<T><<<static_cast<unsigned>((outputs + 255) / 256), 256, 0, call.launch.stream>>>(
        call.x.as<const T>(), call.w.as<const T>(), call.b.as<const T>(), call.y.as<T>(), call.n,
        call.c, call.k);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::fc::Forward, "naive", launch<float>)
    .aligned_to(sizeof(float))
    .on_given_stream()
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::fc::Forward, "naive_f16", launch<__half>)
    .storage(gradverify::DType::f16)
    .aligned_to(sizeof(__half))
    .on_given_stream()
    .with_empty_problems();
