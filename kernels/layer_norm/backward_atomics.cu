// SPDX-License-Identifier: Apache-2.0
// layer_norm.backward/atomics: one thread for each row, which adds its share to dgamma and dbeta.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/grids.cuh"
#include "reference/layer_norm.hpp"

namespace {

struct Inputs {
    const float *dy, *x, *gamma, *mean, *rstd;
};

__global__ void clear(float* dgamma, float* dbeta, int width) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= width) return;
    dgamma[j] = 0.0f;
    dbeta[j] = 0.0f;
}

__global__ void rows_of_all(Inputs in, float* dx, float* dgamma, float* dbeta, long long rows,
                            int width) {
    const long long r = thread_in_grid();
    if (r >= rows) return;
    const float *dy = in.dy + r * width, *x = in.x + r * width;
    const float mean = in.mean[r], rstd = in.rstd[r];
    float sum = 0.0f, sum_xhat = 0.0f;
    for (int j = 0; j < width; ++j) {
        const float xhat = (x[j] - mean) * rstd;
        sum += dy[j] * in.gamma[j];
        sum_xhat += dy[j] * in.gamma[j] * xhat;
        atomicAdd(&dgamma[j], dy[j] * xhat);
        atomicAdd(&dbeta[j], dy[j]);
    }
    for (int j = 0; j < width; ++j) {
        const float xhat = (x[j] - mean) * rstd;
        dx[r * width + j] = rstd * (dy[j] * in.gamma[j] - (sum + xhat * sum_xhat) / width);
    }
}

void launch(const gradverify::layer_norm::Backward& call) {
    const int width = static_cast<int>(call.width);
    float *const dgamma = call.dgamma.as<float>(), *const dbeta = call.dbeta.as<float>();
    clear<<<blocks_of(width, 64), 64, 0, call.launch.stream>>>(dgamma, dbeta, width);
    if (call.rows == 0) return;
    const Inputs in{call.dy.as<const float>(), call.x.as<const float>(),
                    call.gamma.as<const float>(), call.mean.as<const float>(),
                    call.rstd.as<const float>()};
    rows_of_all<<<blocks_of(call.rows, 64), 64, 0, call.launch.stream>>>(
        in, call.dx.as<float>(), dgamma, dbeta, call.rows, width);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::layer_norm::Backward, "atomics", launch)
    .not_deterministic()
    .aligned_to(sizeof(float))
    .with_empty_problems();
