// SPDX-License-Identifier: Apache-2.0
// bias_gelu/naive: a thread for each element, which it may write over, and for each column of
// dbias.
#include "kernels/kernel.cuh"
#include "reference/bias_gelu.hpp"

namespace {

__global__ void bias_gelu(const float* x, const float* bias, float* y, long long elements,
                          long long width) {
    const long long i = thread_in_grid();
    if (i >= elements) return;
    const float z = x[i] + bias[i % width];
    y[i] = 0.5f * z * (1.0f + erff(z * 0.70710678f));
}

void forward(const gradverify::bias_gelu::Forward& call) {
    const long long elements = call.y.elements();
    if (elements == 0) return;
    bias_gelu<<<blocks_of(elements, 256), 256, 0, call.launch.stream>>>(
        call.x.as<const float>(), call.bias.as<const float>(), call.y.as<float>(), elements,
        call.width);
}

// gelu'(z) = Phi(z) + z phi(z), with phi the density of the normal distribution.
__device__ float slope(float z) {
    const float below = 0.5f * (1.0f + erff(z * 0.70710678f));
    return below + z * 0.39894228f * expf(-0.5f * z * z);
}

__global__ void sum_columns(const float* dy, const float* x, const float* bias, float* dbias,
                            long long rows, long long width) {
    const long long j = thread_in_grid();
    if (j >= width) return;
    float sum = 0.0f;
    for (long long r = 0; r < rows; ++r)
        sum += dy[r * width + j] * slope(x[r * width + j] + bias[j]);
    dbias[j] = sum;
}

__global__ void multiply(const float* dy, const float* x, const float* bias, float* dx,
                         long long elements, long long width) {
    const long long i = thread_in_grid();
    if (i < elements) dx[i] = dy[i] * slope(x[i] + bias[i % width]);
}

void backward(const gradverify::bias_gelu::Backward& call) {
    const auto* dy = call.dy.as<const float>();
    const auto* x = call.x.as<const float>();
    const auto* bias = call.bias.as<const float>();
    if (call.wants("dbias"))
        sum_columns<<<blocks_of(call.width, 128), 128, 0, call.launch.stream>>>(
            dy, x, bias, call.dbias.as<float>(), call.rows, call.width);
    const long long elements = call.dx.elements();
    if (call.wants("dx") && elements > 0)
        multiply<<<blocks_of(elements, 128), 128, 0, call.launch.stream>>>(
            dy, x, bias, call.dx.as<float>(), elements, call.width);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::bias_gelu::Forward, "naive", forward)
    .with(declare_elements<float>)
    .in_place("y", "x");
GRADVERIFY_KERNEL(gradverify::bias_gelu::Backward, "naive", backward)
    .with(declare_elements<float>)
    .takes_mask()
    .in_place("dx", "dy");
