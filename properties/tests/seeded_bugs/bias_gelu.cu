// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of bias_gelu.
#include "properties/tests/launches.cuh"
#include "reference/bias_gelu.hpp"

namespace {

using gradverify::bias_gelu::Backward;
using gradverify::bias_gelu::Forward;

enum class Bug { tanh_form, bias_by_row, no_density, ignores_mask, dx_before_dbias };

template <Bug bug>
__device__ void bias_gelu(int i, const float* x, const float* bias, float* y, int width) {
    const float z = x[i] + bias[bug == Bug::bias_by_row ? i / width % width : i % width];
    const float bent = bug == Bug::tanh_form ? tanhf(0.79788456f * (z + 0.044715f * z * z * z))
                                             : erff(z * 0.70710678f);
    y[i] = 0.5f * z * (1.0f + bent);
}

template <Bug bug>
__device__ float slope(float z) {
    const float below = 0.5f * (1.0f + erff(z * 0.70710678f));
    return bug == Bug::no_density ? below : below + z * 0.39894228f * expf(-0.5f * z * z);
}

template <Bug bug>
__device__ void sum_columns(int j, const float* dy, const float* x, const float* bias, float* dbias,
                            int rows, int width) {
    float sum = 0.0f;
    for (int r = 0; r < rows; ++r)
        sum += dy[r * width + j] * slope<bug>(x[r * width + j] + bias[j]);
    dbias[j] = sum;
}

template <Bug bug>
__device__ void multiply(int i, const float* dy, const float* x, const float* bias, float* dx,
                         int width) {
    dx[i] = dy[i] * slope<bug>(x[i] + bias[i % width]);
}

template <Bug bug>
void launch_forward(const Forward& call) {
    launch_each<bias_gelu<bug>>(call.launch, call.y.elements(), call.x, call.bias, call.y,
                                call.width);
}

template <Bug bug>
void launch_backward(const Backward& call) {
    const auto launch_dx = [&] {
        if (call.wants("dx"))
            launch_each<multiply<bug>>(call.launch, call.dx.elements(), call.dy, call.x, call.bias,
                                       call.dx, call.width);
    };
    if (bug == Bug::dx_before_dbias) launch_dx();
    if (bug == Bug::ignores_mask || call.wants("dbias"))
        launch_each<sum_columns<bug>>(call.launch, call.width, call.dy, call.x, call.bias,
                                      call.dbias, call.rows, call.width);
    if (bug != Bug::dx_before_dbias) launch_dx();
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "bug_tanh_form", launch_forward<Bug::tanh_form>);
GRADVERIFY_KERNEL(Forward, "bug_bias_by_row", launch_forward<Bug::bias_by_row>);
GRADVERIFY_KERNEL(Backward, "bug_no_density", launch_backward<Bug::no_density>).takes_mask();
GRADVERIFY_KERNEL(Backward, "bug_ignores_mask", launch_backward<Bug::ignores_mask>).takes_mask();
GRADVERIFY_KERNEL(Backward, "bug_dx_before_dbias", launch_backward<Bug::dx_before_dbias>)
    .in_place("dx", "dy");
