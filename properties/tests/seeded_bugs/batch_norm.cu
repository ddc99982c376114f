// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of batch_norm. Linked into the tests only; lists.hpp says which property must kill
// each, and at which problem.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "reference/batch_norm.hpp"

namespace {

using gradverify::batch_norm::Backward;
using gradverify::batch_norm::Forward;

enum class Bug { unbiased_rstd, biased_running_var, momentum_swapped };

struct Tensors {
    const float *x, *gamma, *beta, *running_mean, *running_var;
    float *y, *mean, *rstd, *new_running_mean, *new_running_var;
};
struct Sizes {
    int n, c, pixels;
    float eps = 0.0f, momentum = 0.0f;

    __device__ int at(int channel, int i) const {
        return (i / pixels * c + channel) * pixels + i % pixels;
    }
};

template <Bug bug>
__global__ void normalise(Tensors t, Sizes s) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x, count = s.n * s.pixels;
    if (c >= s.c) return;
    float mean = 0.0f, squares = 0.0f;
    for (int i = 0; i < count; ++i) mean += t.x[s.at(c, i)];
    mean /= count;
    for (int i = 0; i < count; ++i) squares += (t.x[s.at(c, i)] - mean) * (t.x[s.at(c, i)] - mean);
    const int unbiased = count > 1 ? count - 1 : 1;
    const float rstd = rsqrtf(squares / (bug == Bug::unbiased_rstd ? unbiased : count) + s.eps);
    for (int i = 0; i < count; ++i)
        t.y[s.at(c, i)] = (t.x[s.at(c, i)] - mean) * rstd * t.gamma[c] + t.beta[c];
    t.mean[c] = mean, t.rstd[c] = rstd;
    const float kept = bug == Bug::momentum_swapped ? s.momentum : 1.0f - s.momentum;
    const float variance = squares / (bug == Bug::biased_running_var ? count : unbiased);
    t.new_running_mean[c] = kept * t.running_mean[c] + (1.0f - kept) * mean;
    t.new_running_var[c] = kept * t.running_var[c] + (1.0f - kept) * variance;
}

struct Gradients {
    const float *dy, *x, *gamma, *mean, *rstd;
    float *dx, *dgamma, *dbeta;
};

// The mean of dy is taken over each image, not over the batch.
__global__ void differentiate(Gradients g, Sizes s) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x, count = s.n * s.pixels;
    if (c >= s.c) return;
    const auto xhat = [&](int i) { return (g.x[s.at(c, i)] - g.mean[c]) * g.rstd[c]; };
    float sum = 0.0f, sum_xhat = 0.0f;
    for (int i = 0; i < count; ++i) sum += g.dy[s.at(c, i)], sum_xhat += g.dy[s.at(c, i)] * xhat(i);
    g.dgamma[c] = sum_xhat, g.dbeta[c] = sum;
    for (int i = 0; i < count; ++i) {
        float sum_of_image = 0.0f;
        for (int p = 0; p < s.pixels; ++p)
            sum_of_image += g.dy[s.at(c, i / s.pixels * s.pixels + p)];
        g.dx[s.at(c, i)] =
            g.gamma[c] * g.rstd[c] *
            (g.dy[s.at(c, i)] - sum_of_image / s.pixels - xhat(i) * sum_xhat / count);
    }
}

Sizes sizes_of(std::int64_t n, std::int64_t c, std::int64_t pixels) {
    return {static_cast<int>(n), static_cast<int>(c), static_cast<int>(pixels)};
}

template <Bug bug>
void launch_forward(const Forward& call) {
    const Tensors tensors{call.x.as<const float>(),
                          call.gamma.as<const float>(),
                          call.beta.as<const float>(),
                          call.running_mean.as<const float>(),
                          call.running_var.as<const float>(),
                          call.y.as<float>(),
                          call.mean.as<float>(),
                          call.rstd.as<float>(),
                          call.new_running_mean.as<float>(),
                          call.new_running_var.as<float>()};
    Sizes sizes = sizes_of(call.n, call.c, call.pixels);
    sizes.eps = call.eps, sizes.momentum = call.momentum;
    normalise<bug><<<(sizes.c + 31) / 32, 32, 0, call.launch.stream>>>(tensors, sizes);
}

void launch_backward(const Backward& call) {
    const Gradients gradients{call.dy.as<const float>(),    call.x.as<const float>(),
                              call.gamma.as<const float>(), call.mean.as<const float>(),
                              call.rstd.as<const float>(),  call.dx.as<float>(),
                              call.dgamma.as<float>(),      call.dbeta.as<float>()};
    const Sizes sizes = sizes_of(call.n, call.c, call.pixels);
    differentiate<<<(sizes.c + 31) / 32, 32, 0, call.launch.stream>>>(gradients, sizes);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "bug_unbiased_rstd", launch_forward<Bug::unbiased_rstd>);
GRADVERIFY_KERNEL(Forward, "bug_biased_running_var", launch_forward<Bug::biased_running_var>);
GRADVERIFY_KERNEL(Forward, "bug_momentum_swapped", launch_forward<Bug::momentum_swapped>);
GRADVERIFY_KERNEL(Backward, "bug_mean_per_image", launch_backward);
