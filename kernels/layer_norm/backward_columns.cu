// SPDX-License-Identifier: Apache-2.0
// layer_norm.backward/columns: a block for each row of dx, and a thread for each column of dgamma
// and dbeta.
//
//   dx = rstd (g - mean of g - xhat (mean of g xhat)),  g = dy gamma,  xhat = (x - mean) rstd
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/block_sum.cuh"
#include "reference/layer_norm.hpp"

namespace {

struct Inputs {
    const float *dy, *x, *gamma, *mean, *rstd;
};

__global__ void row_of_dx(Inputs in, float* dx, int width) {
    extern __shared__ float share[];
    const long long r = blockIdx.x;
    const float mean = in.mean[r], rstd = in.rstd[r];
    float sum = 0.0f, sum_xhat = 0.0f;
    for (int j = threadIdx.x; j < width; j += blockDim.x) {
        const float g = in.dy[r * width + j] * in.gamma[j];
        sum += g;
        sum_xhat += g * (in.x[r * width + j] - mean) * rstd;
    }
    const float mean_g = block_sum(sum, share) / width;
    const float mean_g_xhat = block_sum(sum_xhat, share) / width;
    for (int j = threadIdx.x; j < width; j += blockDim.x) {
        const float g = in.dy[r * width + j] * in.gamma[j];
        const float xhat = (in.x[r * width + j] - mean) * rstd;
        dx[r * width + j] = rstd * (g - mean_g - xhat * mean_g_xhat);
    }
}

__global__ void columns(Inputs in, float* dgamma, float* dbeta, long long rows, int width) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= width) return;
    float gamma = 0.0f, beta = 0.0f;
    for (long long r = 0; r < rows; ++r) {
        const float dy = in.dy[r * width + j];
        gamma += dy * (in.x[r * width + j] - in.mean[r]) * in.rstd[r];
        beta += dy;
    }
    if (dgamma) dgamma[j] = gamma;
    if (dbeta) dbeta[j] = beta;
}

void launch(const gradverify::layer_norm::Backward& call) {
    const Inputs in{call.dy.as<const float>(), call.x.as<const float>(),
                    call.gamma.as<const float>(), call.mean.as<const float>(),
                    call.rstd.as<const float>()};
    const int width = static_cast<int>(call.width), threads = call.launch.block_size;
    float* const dgamma = call.wants("dgamma") ? call.dgamma.as<float>() : nullptr;
    float* const dbeta = call.wants("dbeta") ? call.dbeta.as<float>() : nullptr;
    if (call.wants("dx") && call.rows > 0)
        row_of_dx<<<static_cast<unsigned>(call.rows), threads, threads * sizeof(float),
                    call.launch.stream>>>(in, call.dx.as<float>(), width);
    if (dgamma || dbeta)
        columns<<<static_cast<unsigned>((width + 63) / 64), 64, 0, call.launch.stream>>>(
            in, dgamma, dbeta, call.rows, width);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::layer_norm::Backward, "columns", launch)
    .takes_mask()
    .blocks_of({64, 32, 256})
    .aligned_to(sizeof(float))
    .costs({.threads_per_output = 64, .barriers_per_thread = 18})
    .with_empty_problems();
