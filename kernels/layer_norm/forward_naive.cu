// SPDX-License-Identifier: Apache-2.0
// layer_norm.forward/naive: a thread for each row, the mean first and then the variance.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "reference/layer_norm.hpp"

namespace {

struct Tensors {
    const float *x, *gamma, *beta;
    float *y, *mean, *rstd;
};

__global__ void normalise_rows(Tensors t, long long rows, int width, float eps) {
    const long long r = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* x = t.x + r * width;
    float mean = 0.0f;
    for (int j = 0; j < width; ++j) mean += x[j];
    mean /= width;
    float variance = 0.0f;
    for (int j = 0; j < width; ++j) variance += (x[j] - mean) * (x[j] - mean);
    const float rstd = rsqrtf(variance / width + eps);
    for (int j = 0; j < width; ++j)
        t.y[r * width + j] = (x[j] - mean) * rstd * t.gamma[j] + t.beta[j];
    t.mean[r] = mean;
    t.rstd[r] = rstd;
}

void launch(const gradverify::layer_norm::Forward& call) {
    if (call.rows == 0) return;
    const Tensors tensors{call.x.as<const float>(),    call.gamma.as<const float>(),
                          call.beta.as<const float>(), call.y.as<float>(),
                          call.mean.as<float>(),       call.rstd.as<float>()};
    normalise_rows<<<static_cast<unsigned>((call.rows + 63) / 64), 64, 0, call.launch.stream>>>(
        tensors, call.rows, static_cast<int>(call.width), call.eps);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::layer_norm::Forward, "naive", launch)
    .aligned_to(sizeof(float))
    .with_empty_problems();
