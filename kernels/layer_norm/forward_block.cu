// SPDX-License-Identifier: Apache-2.0
// layer_norm.forward/block: a block for each row, with sums in shared memory.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/block_sum.cuh"
#include "reference/layer_norm.hpp"

namespace {

struct Tensors {
    const float *x, *gamma, *beta;
    float *y, *mean, *rstd;
};

__global__ void normalise_row(Tensors t, int width, float eps) {
    extern __shared__ float share[];
    const long long r = blockIdx.x;
    const float* x = t.x + r * width;
    float sum = 0.0f;
    for (int j = threadIdx.x; j < width; j += blockDim.x) sum += x[j];
    const float mean = block_sum(sum, share) / width;
    float squares = 0.0f;
    for (int j = threadIdx.x; j < width; j += blockDim.x) squares += (x[j] - mean) * (x[j] - mean);
    const float rstd = rsqrtf(block_sum(squares, share) / width + eps);
    for (int j = threadIdx.x; j < width; j += blockDim.x)
        t.y[r * width + j] = (x[j] - mean) * rstd * t.gamma[j] + t.beta[j];
    if (threadIdx.x > 0) return;
    t.mean[r] = mean;
    t.rstd[r] = rstd;
}

void launch(const gradverify::layer_norm::Forward& call) {
    if (call.rows == 0) return;
    const Tensors tensors{call.x.as<const float>(),    call.gamma.as<const float>(),
                          call.beta.as<const float>(), call.y.as<float>(),
                          call.mean.as<float>(),       call.rstd.as<float>()};
    const int threads = call.launch.block_size;
    normalise_row<<<static_cast<unsigned>(call.rows), threads, threads * sizeof(float),
                    call.launch.stream>>>(tensors, static_cast<int>(call.width), call.eps);
}

std::int64_t threads_of_rows(const gradverify::Problem& problem) {
    return 64 * problem.scalar("rows");
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::layer_norm::Forward, "block", launch)
    .blocks_of({64, 32, 256})
    .aligned_to(sizeof(float))
    .costs({.barriers_per_thread = 18, .threads = threads_of_rows})
    .with_empty_problems();
