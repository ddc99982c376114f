// SPDX-License-Identifier: Apache-2.0
// batch_norm/block: a block for each channel; the running statistics are updated in place.
//
//   dx = gamma rstd (dy - mean of dy - xhat (mean of dy xhat)),  xhat = (x - mean) rstd
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
};

__global__ void normalise_channel(Tensors t, Sizes s, float eps, float momentum) {
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
    const float rstd = rsqrtf(squares / count + eps);
    for (long long i = threadIdx.x; i < count; i += blockDim.x)
        t.y[at(i)] = (t.x[at(i)] - mean) * rstd * t.gamma[c] + t.beta[c];
    if (threadIdx.x > 0) return;
    t.mean[c] = mean;
    t.rstd[c] = rstd;
    const float unbiased = squares / (count > 1 ? count - 1 : 1);
    t.running_mean[c] = (1.0f - momentum) * t.running_mean[c] + momentum * mean;
    t.running_var[c] = (1.0f - momentum) * t.running_var[c] + momentum * unbiased;
}

void forward(const gradverify::batch_norm::Forward& call) {
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
                        call.launch.stream>>>(tensors, {call.n, call.c, call.pixels}, call.eps,
                                              call.momentum);
}

std::int64_t threads_of_channels(const gradverify::Problem& problem) {
    return 64 * problem.scalar("c");
}

struct Inputs {
    const float *dy, *x, *gamma, *mean, *rstd;
};
struct Outputs {
    float *dx, *dgamma, *dbeta;  ///< null where not asked for
};

__global__ void gradients_of_channel(Inputs in, Outputs out, Sizes s) {
    extern __shared__ float share[];
    const long long c = blockIdx.x, count = s.n * s.pixels;
    const auto at = [&](long long i) { return (i / s.pixels * s.c + c) * s.pixels + i % s.pixels; };
    const float mean = in.mean[c], rstd = in.rstd[c];
    float sum = 0.0f, sum_xhat = 0.0f;
    for (long long i = threadIdx.x; i < count; i += blockDim.x) {
        sum += in.dy[at(i)];
        sum_xhat += in.dy[at(i)] * (in.x[at(i)] - mean) * rstd;
    }
    sum = block_sum(sum, share);
    sum_xhat = block_sum(sum_xhat, share);
    if (threadIdx.x == 0 && out.dgamma) out.dgamma[c] = sum_xhat;
    if (threadIdx.x == 0 && out.dbeta) out.dbeta[c] = sum;
    if (!out.dx) return;
    for (long long i = threadIdx.x; i < count; i += blockDim.x) {
        const float xhat = (in.x[at(i)] - mean) * rstd;
        out.dx[at(i)] =
            in.gamma[c] * rstd * (in.dy[at(i)] - sum / count - xhat * (sum_xhat / count));
    }
}

void backward(const gradverify::batch_norm::Backward& call) {
    const Inputs in{call.dy.as<const float>(), call.x.as<const float>(),
                    call.gamma.as<const float>(), call.mean.as<const float>(),
                    call.rstd.as<const float>()};
    const Outputs out{call.wants("dx") ? call.dx.as<float>() : nullptr,
                      call.wants("dgamma") ? call.dgamma.as<float>() : nullptr,
                      call.wants("dbeta") ? call.dbeta.as<float>() : nullptr};
    const int threads = call.launch.block_size;
    gradients_of_channel<<<static_cast<unsigned>(call.c), threads, threads * sizeof(float),
                           call.launch.stream>>>(in, out, {call.n, call.c, call.pixels});
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::batch_norm::Forward, "block", forward)
    .updates("new_running_mean", "running_mean")
    .updates("new_running_var", "running_var")
    .blocks_of({64, 32, 256})
    .aligned_to(sizeof(float))
    .costs({.barriers_per_thread = 18, .threads = threads_of_channels});
GRADVERIFY_KERNEL(gradverify::batch_norm::Backward, "block", backward)
    .takes_mask()
    .contiguous()
    .blocks_of({64, 32, 256})
    .aligned_to(sizeof(float))
    .costs({.barriers_per_thread = 18, .threads = threads_of_channels});
