// SPDX-License-Identifier: Apache-2.0
// layer_norm.backward/columns: a block for each row of dx, and a thread for each column of dgamma
// and dbeta; of float, and of bfloat16 with the saved mean and 1 / standard deviation in float.
//
//   dx = rstd (g - mean of g - xhat (mean of g xhat)),  g = dy gamma,  xhat = (x - mean) rstd
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/block_sum.cuh"
#include "kernels/element.cuh"
#include "kernels/grids.cuh"
#include "reference/layer_norm.hpp"

namespace {

template <class T>
struct Inputs {
    const T *of_dy, *of_x, *of_gamma;
    const float *mean, *rstd;
    int width;

    __device__ float dy(long long r, int j) const {
        return static_cast<float>(of_dy[r * width + j]);
    }
    __device__ float g(long long r, int j) const {
        return dy(r, j) * static_cast<float>(of_gamma[j]);
    }
    __device__ float from_mean(long long r, int j) const {
        return static_cast<float>(of_x[r * width + j]) - mean[r];
    }
};

template <class T>
__global__ void row_of_dx(Inputs<T> in, T* dx) {
    extern __shared__ float share[];
    const long long r = blockIdx.x;
    const int width = in.width;
    const float rstd = in.rstd[r];
    float sum = 0.0f, sum_xhat = 0.0f;
    for (int j = threadIdx.x; j < width; j += blockDim.x) {
        const float g = in.g(r, j);
        sum += g;
        sum_xhat += g * in.from_mean(r, j) * rstd;
    }
    const float mean_g = block_sum(sum, share) / width;
    const float mean_g_xhat = block_sum(sum_xhat, share) / width;
    for (int j = threadIdx.x; j < width; j += blockDim.x) {
        const float xhat = in.from_mean(r, j) * rstd;
        dx[r * width + j] = static_cast<T>(rstd * (in.g(r, j) - mean_g - xhat * mean_g_xhat));
    }
}

template <class T>
__global__ void columns(Inputs<T> in, T* dgamma, T* dbeta, long long rows) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= in.width) return;
    float gamma = 0.0f, beta = 0.0f;
    for (long long r = 0; r < rows; ++r) {
        const float dy = in.dy(r, j);
        gamma += dy * in.from_mean(r, j) * in.rstd[r];
        beta += dy;
    }
    if (dgamma) dgamma[j] = static_cast<T>(gamma);
    if (dbeta) dbeta[j] = static_cast<T>(beta);
}

template <class T>
void launch(const gradverify::layer_norm::Backward& call) {
    const Inputs<T> in{call.dy.as<const T>(),       call.x.as<const T>(),
                       call.gamma.as<const T>(),    call.mean.as<const float>(),
                       call.rstd.as<const float>(), static_cast<int>(call.width)};
    const int width = static_cast<int>(call.width), threads = call.launch.block_size;
    T* const dgamma = call.wants("dgamma") ? call.dgamma.as<T>() : nullptr;
    T* const dbeta = call.wants("dbeta") ? call.dbeta.as<T>() : nullptr;
    if (call.wants("dx") && call.rows > 0)
        row_of_dx<<<static_cast<unsigned>(call.rows), threads, threads * sizeof(float),
                    call.launch.stream>>>(in, call.dx.as<T>());
    if (dgamma || dbeta)
        columns<<<blocks_of(width, 64), 64, 0, call.launch.stream>>>(in, dgamma, dbeta, call.rows);
}

std::int64_t threads_of_all(const gradverify::Problem& problem) {
    return 64 * problem.scalar("rows") + problem.scalar("width");
}

void declare(gradverify::KernelDeclaration& kernel) {
    kernel.takes_mask()
        .blocks_of({64, 32, 256})
        .aligned_to(sizeof(float))
        .costs({.barriers_per_thread = 18, .threads = threads_of_all})
        .with_empty_problems();
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::layer_norm::Backward, "columns", launch<float>).with(declare);
GRADVERIFY_KERNEL(gradverify::layer_norm::Backward, "columns_bf16", launch<__nv_bfloat16>)
    .storage(gradverify::DType::bf16)
    .with(declare);
