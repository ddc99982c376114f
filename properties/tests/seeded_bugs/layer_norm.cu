// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of layer_norm. Linked into the tests only; lists.hpp says which property must kill
// each, and at which problem.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/grids.cuh"
#include "reference/layer_norm.hpp"

namespace {

using gradverify::layer_norm::Backward;
using gradverify::layer_norm::Forward;

enum class Bug { difference_of_squares, eps_outside_root, no_mean_of_g, no_gamma, first_row_only };

struct Outputs {
    float *y, *mean, *rstd;
};

template <Bug bug>
__global__ void normalise(const float* all_x, const float* gamma, const float* beta, Outputs out,
                          int rows, int width, float eps) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* x = all_x + r * width;
    float sum = 0.0f, squares = 0.0f, from_mean = 0.0f;
    for (int j = 0; j < width; ++j) sum += x[j], squares += __fmul_rn(x[j], x[j]);
    const float mean = sum / width;
    for (int j = 0; j < width; ++j) from_mean += (x[j] - mean) * (x[j] - mean);
    // A14: in float the two squares cancel where the mean is much larger than the spread. Never
    // contracted to one fma, or a row of one element shows it, on some devices.
    const float variance = bug == Bug::difference_of_squares
                               ? squares / width - __fmul_rn(mean, mean)
                               : from_mean / width;
    const float rstd =
        bug == Bug::eps_outside_root ? 1.0f / (sqrtf(variance) + eps) : rsqrtf(variance + eps);
    for (int j = 0; j < width; ++j)
        out.y[r * width + j] = (x[j] - mean) * rstd * gamma[j] + beta[j];
    out.mean[r] = mean, out.rstd[r] = rstd;
}

struct Inputs {
    const float *dy, *x, *gamma, *mean, *rstd;
};

template <Bug bug>
__global__ void rows_of_dx(Inputs in, float* dx, int rows, int width) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const auto g = [&](int j) {
        return in.dy[r * width + j] * (bug == Bug::no_gamma ? 1.0f : in.gamma[j]);
    };
    const auto xhat = [&](int j) { return (in.x[r * width + j] - in.mean[r]) * in.rstd[r]; };
    float sum = 0.0f, sum_xhat = 0.0f;
    for (int j = 0; j < width; ++j) sum += g(j), sum_xhat += g(j) * xhat(j);
    if (bug == Bug::no_mean_of_g) sum = 0.0f;
    for (int j = 0; j < width; ++j)
        dx[r * width + j] = in.rstd[r] * (g(j) - (sum + xhat(j) * sum_xhat) / width);
}

template <Bug bug>
__global__ void columns(Inputs in, float* dgamma, float* dbeta, int rows, int width) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= width) return;
    dgamma[j] = dbeta[j] = 0.0f;
    for (int r = 0; r < (bug == Bug::first_row_only ? 1 : rows); ++r) {
        dgamma[j] += in.dy[r * width + j] * (in.x[r * width + j] - in.mean[r]) * in.rstd[r];
        dbeta[j] += in.dy[r * width + j];
    }
}

template <Bug bug>
void launch_forward(const Forward& call) {
    normalise<bug><<<blocks_of(call.rows, 64), 64, 0, call.launch.stream>>>(
        call.x.as<const float>(), call.gamma.as<const float>(), call.beta.as<const float>(),
        {call.y.as<float>(), call.mean.as<float>(), call.rstd.as<float>()},
        static_cast<int>(call.rows), static_cast<int>(call.width), call.eps);
}

template <Bug bug>
void launch_backward(const Backward& call) {
    const Inputs in{call.dy.as<const float>(), call.x.as<const float>(),
                    call.gamma.as<const float>(), call.mean.as<const float>(),
                    call.rstd.as<const float>()};
    const int rows = static_cast<int>(call.rows), width = static_cast<int>(call.width);
    rows_of_dx<bug>
        <<<blocks_of(rows, 64), 64, 0, call.launch.stream>>>(in, call.dx.as<float>(), rows, width);
    columns<bug><<<blocks_of(width, 64), 64, 0, call.launch.stream>>>(
        in, call.dgamma.as<float>(), call.dbeta.as<float>(), rows, width);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "bug_a14_difference_of_squares",
                  launch_forward<Bug::difference_of_squares>);
GRADVERIFY_KERNEL(Forward, "bug_eps_outside_root", launch_forward<Bug::eps_outside_root>);
GRADVERIFY_KERNEL(Backward, "bug_no_mean_of_g", launch_backward<Bug::no_mean_of_g>);
GRADVERIFY_KERNEL(Backward, "bug_no_gamma", launch_backward<Bug::no_gamma>);
GRADVERIFY_KERNEL(Backward, "bug_first_row_only", launch_backward<Bug::first_row_only>);
