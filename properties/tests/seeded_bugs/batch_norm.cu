// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of batch_norm.
#include "properties/tests/launches.cuh"
#include "reference/batch_norm.hpp"

namespace {

using gradverify::batch_norm::Backward;
using gradverify::batch_norm::Forward;

enum class Bug { unbiased_rstd, biased_running_var, momentum_swapped };

struct Sizes {
    int n, c, pixels;

    __device__ int at(int channel, int i) const {
        return (i / pixels * c + channel) * pixels + i % pixels;
    }
};

template <Bug bug>
__device__ void normalise(int c, const float* x, const float* gamma, const float* beta,
                          const float* running_mean, const float* running_var, float* y,
                          float* means, float* rstds, float* new_mean, float* new_var, Sizes s,
                          float eps, float momentum) {
    const int count = s.n * s.pixels;
    float mean = 0.0f, squares = 0.0f;
    for (int i = 0; i < count; ++i) mean += x[s.at(c, i)];
    mean /= count;
    for (int i = 0; i < count; ++i) squares += (x[s.at(c, i)] - mean) * (x[s.at(c, i)] - mean);
    const int unbiased = count > 1 ? count - 1 : 1;
    const float rstd = rsqrtf(squares / (bug == Bug::unbiased_rstd ? unbiased : count) + eps);
    for (int i = 0; i < count; ++i)
        y[s.at(c, i)] = (x[s.at(c, i)] - mean) * rstd * gamma[c] + beta[c];
    means[c] = mean, rstds[c] = rstd;
    const float kept = bug == Bug::momentum_swapped ? momentum : 1.0f - momentum;
    const float variance = squares / (bug == Bug::biased_running_var ? count : unbiased);
    new_mean[c] = kept * running_mean[c] + (1.0f - kept) * mean;
    new_var[c] = kept * running_var[c] + (1.0f - kept) * variance;
}

// The mean of dy is taken over each image.
__device__ void differentiate(int c, const float* dy, const float* x, const float* gamma,
                              const float* mean, const float* rstd, float* dx, float* dgamma,
                              float* dbeta, Sizes s) {
    const int count = s.n * s.pixels;
    const auto xhat = [&](int i) { return (x[s.at(c, i)] - mean[c]) * rstd[c]; };
    float sum = 0.0f, sum_xhat = 0.0f;
    for (int i = 0; i < count; ++i) sum += dy[s.at(c, i)], sum_xhat += dy[s.at(c, i)] * xhat(i);
    dgamma[c] = sum_xhat, dbeta[c] = sum;
    for (int i = 0; i < count; ++i) {
        float sum_of_image = 0.0f;
        for (int p = 0; p < s.pixels; ++p) sum_of_image += dy[s.at(c, i / s.pixels * s.pixels + p)];
        dx[s.at(c, i)] = gamma[c] * rstd[c] *
                         (dy[s.at(c, i)] - sum_of_image / s.pixels - xhat(i) * sum_xhat / count);
    }
}

template <class Call>
Sizes sizes_of(const Call& call) {
    return {static_cast<int>(call.n), static_cast<int>(call.c), static_cast<int>(call.pixels)};
}

template <Bug bug>
void launch_forward(const Forward& call) {
    launch_each<normalise<bug>>(call.launch, call.c, call.x, call.gamma, call.beta,
                                call.running_mean, call.running_var, call.y, call.mean, call.rstd,
                                call.new_running_mean, call.new_running_var, sizes_of(call),
                                call.eps, call.momentum);
}

void launch_backward(const Backward& call) {
    launch_each<differentiate>(call.launch, call.c, call.dy, call.x, call.gamma, call.mean,
                               call.rstd, call.dx, call.dgamma, call.dbeta, sizes_of(call));
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "bug_unbiased_rstd", launch_forward<Bug::unbiased_rstd>);
GRADVERIFY_KERNEL(Forward, "bug_biased_running_var", launch_forward<Bug::biased_running_var>);
GRADVERIFY_KERNEL(Forward, "bug_momentum_swapped", launch_forward<Bug::momentum_swapped>);
GRADVERIFY_KERNEL(Backward, "bug_mean_per_image", launch_backward);
