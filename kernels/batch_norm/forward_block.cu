// SPDX-License-Identifier: Apache-2.0
// batch_norm.forward/block: a block for each channel; the running statistics are updated in place.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/block_sum.cuh"
#include "reference/batch_norm.hpp"

namespace {

struct Tensors {
    const float *x, *gamma, *beta;
    float *running_mean, *running_var, *y, *mean, *rstd;
};
struct Sizes {
    long long n, c, pixels;
    float eps, momentum;
};

__global__ void normalise_channel(Tensors t, Sizes s) {
    extern __shared__ float share[];
    const long long c = blockIdx.x, count = s.n * s.pixels;
    const auto at = [&](long long i) { return (i / s.pixels * s.c + c) * s.pixels + i % s.pixels; };
    float sum = 0.0f;
    for (long long i = threadIdx.x; i < count; i += blockDim.x) sum += t.x[at(i)];
    const float mean = block_sum(sum, share) / count;
    float squares = 0.0f;
    for (long long i = threadIdx.x; i < count; i += blockDim.x)
        squares += (t.x[at(i)] - mean) * (t.x[at(i)] - mean);
    squares = block_sum(squares, share);
    const float rstd = rsqrtf(squares / count + s.eps);
    for (long long i = threadIdx.x; i < count; i += blockDim.x)
        t.y[at(i)] = (t.x[at(i)] - mean) * rstd * t.gamma[c] + t.beta[c];
    if (threadIdx.x > 0) return;
    t.mean[c] = mean;
    t.rstd[c] = rstd;
    const float unbiased = squares / (count > 1 ? count - 1 : 1);
    t.running_mean[c] = (1.0f - s.momentum) * t.running_mean[c] + s.momentum * mean;
    t.running_var[c] = (1.0f - s.momentum) * t.running_var[c] + s.momentum * unbiased;
}

void launch(const gradverify::batch_norm::Forward& call) {
    const Tensors tensors{call.x.as<const float>(),
                          call.gamma.as<const float>(),
                          call.beta.as<const float>(),
                          call.new_running_mean.as<float>(),
                          call.new_running_var.as<float>(),
                          call.y.as<float>(),
                          call.mean.as<float>(),
                          call.rstd.as<float>()};
    const int threads = call.launch.block_size;
    normalise_channel<<<static_cast<unsigned>(call.c), threads, threads * sizeof(float),
                        call.launch.stream>>>(
        tensors, {call.n, call.c, call.pixels, call.eps, call.momentum});
}

std::int64_t threads_of_channels(const gradverify::Problem& problem) {
    return 64 * problem.scalar("c");
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::batch_norm::Forward, "block", launch)
    .updates("new_running_mean", "running_mean")
    .updates("new_running_var", "running_var")
    .blocks_of({64, 32, 256})
    .aligned_to(sizeof(float))
    .costs({.barriers_per_thread = 18, .threads = threads_of_channels});
