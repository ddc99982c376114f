// SPDX-License-Identifier: Apache-2.0
// fc/naive: a thread for each element of a result; forward also in half, with sums in float.
#include <cuda_fp16.h>

#include "kernels/kernel.cuh"
#include "reference/fc.hpp"

namespace {

using namespace gradverify::fc;

// input: batch, in_features; weights: out_features, in_features; bias: out_features;
// output: batch, out_features.
template <class T>
__global__ void fc_forward(const T* input, const T* weights, const T* bias, T* output,
                           long long batch, long long in_features, long long out_features) {
    using Sum = Accumulator<T>;
    const long long index = thread_in_grid();
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
void forward(const Forward& call) {
    const long long outputs = call.y.elements();
    if (outputs == 0) return;
    fc_forward<T><<<blocks_of(outputs, 256), 256, 0, call.launch.stream>>>(
        call.x.as<const T>(), call.w.as<const T>(), call.b.as<const T>(), call.y.as<T>(), call.n,
        call.c, call.k);
}

// grad_output: batch, out_features; weights: out_features, in_features;
// grad_input: batch, in_features.
__global__ void fc_backward_input(const float* grad_output, const float* weights, float* grad_input,
                                  long long batch, long long in_features, long long out_features) {
    const long long index = thread_in_grid();
    if (index >= batch * in_features) return;
    const long long c = index % in_features;
    const long long b = index / in_features;
    float sum = 0.0f;
    for (long long k = 0; k < out_features; ++k)
        sum += grad_output[b * out_features + k] * weights[k * in_features + c];
    grad_input[index] = sum;
}

void grad_input(const GradInput& call) {
    const long long inputs = call.dx.elements();
    if (inputs == 0) return;
    fc_backward_input<<<blocks_of(inputs, 256), 256, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.w.as<const float>(), call.dx.as<float>(), call.n, call.c,
        call.k);
}

// grad_output: batch, out_features; input: batch, in_features;
// grad_weights: out_features, in_features.
__global__ void fc_backward_weights(const float* grad_output, const float* input,
                                    float* grad_weights, long long batch, long long in_features,
                                    long long out_features) {
    const long long index = thread_in_grid();
    if (index >= out_features * in_features) return;
    const long long c = index % in_features;
    const long long k = index / in_features;
    float sum = 0.0f;
    for (long long b = 0; b < batch; ++b)
        sum += grad_output[b * out_features + k] * input[b * in_features + c];
    grad_weights[index] = sum;
}

void grad_weight(const GradWeight& call) {
    const long long weights = call.dw.elements();
    fc_backward_weights<<<blocks_of(weights, 256), 256, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.x.as<const float>(), call.dw.as<float>(), call.n, call.c,
        call.k);
}

// grad_output: batch, out_features; grad_bias: out_features.
__global__ void fc_backward_bias(const float* grad_output, float* grad_bias, long long batch,
                                 long long out_features) {
    const long long k = thread_in_grid();
    if (k >= out_features) return;
    float sum = 0.0f;
    for (long long b = 0; b < batch; ++b) sum += grad_output[b * out_features + k];
    grad_bias[k] = sum;
}

void grad_bias(const GradBias& call) {
    fc_backward_bias<<<blocks_of(call.k, 256), 256, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as<float>(), call.n, call.k);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "naive", forward<float>).with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(Forward, "naive_f16", forward<__half>).with(declare_elements_on_stream<__half>);
GRADVERIFY_KERNEL(GradInput, "naive", grad_input).with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(GradWeight, "naive", grad_weight).with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(GradBias, "naive", grad_bias).with(declare_elements_on_stream<float>);
