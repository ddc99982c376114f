// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of layer_norm.
#include "properties/tests/launches.cuh"
#include "reference/layer_norm.hpp"

namespace {

using gradverify::layer_norm::Backward;
using gradverify::layer_norm::Forward;

enum class Bug { difference_of_squares, eps_outside_root, no_mean_of_g, no_gamma, first_row_only };

template <Bug bug>
__device__ void normalise(int r, const float* all_x, const float* gamma, const float* beta,
                          float* y, float* all_means, float* all_rstds, int width, float eps) {
    const float* x = all_x + r * width;
    float sum = 0.0f, squares = 0.0f, from_mean = 0.0f;
    for (int j = 0; j < width; ++j) sum += x[j], squares += __fmul_rn(x[j], x[j]);
    const float mean = sum / width;
    for (int j = 0; j < width; ++j) from_mean += (x[j] - mean) * (x[j] - mean);
    // A14: the squares cancel where the mean is large. An fma would show it in rows of one element.
    const float variance = bug == Bug::difference_of_squares
                               ? squares / width - __fmul_rn(mean, mean)
                               : from_mean / width;
    const float rstd =
        bug == Bug::eps_outside_root ? 1.0f / (sqrtf(variance) + eps) : rsqrtf(variance + eps);
    for (int j = 0; j < width; ++j) y[r * width + j] = (x[j] - mean) * rstd * gamma[j] + beta[j];
    all_means[r] = mean, all_rstds[r] = rstd;
}

template <Bug bug>
__device__ void rows_of_dx(int r, const float* dy, const float* x, const float* gamma,
                           const float* mean, const float* rstd, float* dx, int width) {
    const auto g = [&](int j) {
        return dy[r * width + j] * (bug == Bug::no_gamma ? 1.0f : gamma[j]);
    };
    const auto xhat = [&](int j) { return (x[r * width + j] - mean[r]) * rstd[r]; };
    float sum = 0.0f, sum_xhat = 0.0f;
    for (int j = 0; j < width; ++j) sum += g(j), sum_xhat += g(j) * xhat(j);
    if (bug == Bug::no_mean_of_g) sum = 0.0f;
    for (int j = 0; j < width; ++j)
        dx[r * width + j] = rstd[r] * (g(j) - (sum + xhat(j) * sum_xhat) / width);
}

template <Bug bug>
__device__ void columns(int j, const float* dy, const float* x, const float* mean,
                        const float* rstd, float* dgamma, float* dbeta, int rows, int width) {
    dgamma[j] = dbeta[j] = 0.0f;
    for (int r = 0; r < (bug == Bug::first_row_only ? 1 : rows); ++r) {
        dgamma[j] += dy[r * width + j] * (x[r * width + j] - mean[r]) * rstd[r];
        dbeta[j] += dy[r * width + j];
    }
}

template <Bug bug>
void launch_forward(const Forward& call) {
    launch_each<normalise<bug>>(call.launch, call.rows, call.x, call.gamma, call.beta, call.y,
                                call.mean, call.rstd, call.width, call.eps);
}

template <Bug bug>
void launch_backward(const Backward& call) {
    launch_each<rows_of_dx<bug>>(call.launch, call.rows, call.dy, call.x, call.gamma, call.mean,
                                 call.rstd, call.dx, call.width);
    launch_each<columns<bug>>(call.launch, call.width, call.dy, call.x, call.mean, call.rstd,
                              call.dgamma, call.dbeta, call.rows, call.width);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "bug_a14_difference_of_squares",
                  launch_forward<Bug::difference_of_squares>);
GRADVERIFY_KERNEL(Forward, "bug_eps_outside_root", launch_forward<Bug::eps_outside_root>);
GRADVERIFY_KERNEL(Backward, "bug_no_mean_of_g", launch_backward<Bug::no_mean_of_g>);
GRADVERIFY_KERNEL(Backward, "bug_no_gamma", launch_backward<Bug::no_gamma>);
GRADVERIFY_KERNEL(Backward, "bug_first_row_only", launch_backward<Bug::first_row_only>);
