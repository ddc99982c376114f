// SPDX-License-Identifier: Apache-2.0
// layer_norm.forward/naive: a thread for each row, the mean first and then the variance; of float,
// and of bfloat16 with the mean and 1 / standard deviation in float.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/element.cuh"
#include "kernels/grids.cuh"
#include "reference/layer_norm.hpp"

namespace {

template <class T>
struct Tensors {
    const T *x, *gamma, *beta;
    T* y;
    float *mean, *rstd;
};

template <class T>
__global__ void normalise_rows(Tensors<T> t, long long rows, int width, float eps) {
    const long long r = thread_in_grid();
    if (r >= rows) return;
    const auto x = [&](int j) { return static_cast<float>(t.x[r * width + j]); };
    float mean = 0.0f;
    for (int j = 0; j < width; ++j) mean += x(j);
    mean /= width;
    float variance = 0.0f;
    for (int j = 0; j < width; ++j) variance += (x(j) - mean) * (x(j) - mean);
    const float rstd = rsqrtf(variance / width + eps);
    for (int j = 0; j < width; ++j)
        t.y[r * width + j] = static_cast<T>((x(j) - mean) * rstd * static_cast<float>(t.gamma[j]) +
                                            static_cast<float>(t.beta[j]));
    t.mean[r] = mean;
    t.rstd[r] = rstd;
}

template <class T>
void launch(const gradverify::layer_norm::Forward& call) {
    if (call.rows == 0) return;
    const Tensors<T> tensors{call.x.as<const T>(),    call.gamma.as<const T>(),
                             call.beta.as<const T>(), call.y.as<T>(),
                             call.mean.as<float>(),   call.rstd.as<float>()};
    normalise_rows<<<blocks_of(call.rows, 64), 64, 0, call.launch.stream>>>(
        tensors, call.rows, static_cast<int>(call.width), call.eps);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::layer_norm::Forward, "naive", launch<float>)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::layer_norm::Forward, "naive_bf16", launch<__nv_bfloat16>)
    .storage(gradverify::DType::bf16)
    .aligned_to(sizeof(float))
    .with_empty_problems();
