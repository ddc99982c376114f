// SPDX-License-Identifier: Apache-2.0
// layer_norm.backward/atomics: one thread for each row, which adds its share to dgamma and dbeta.
// layer_norm.backward/columns: a block for each row of dx, and a thread for each column of dgamma
// and dbeta, in float, or bfloat16 with mean and rstd in float.
//
//   dx = rstd (g - mean of g - xhat (mean of g xhat)),  g = dy gamma,  xhat = (x - mean) rstd
#include "kernels/block_sum.cuh"
#include "kernels/kernel.cuh"
#include "reference/layer_norm.hpp"

namespace {

using gradverify::layer_norm::Backward;

template <class T>
struct Inputs {
    const T *of_dy, *of_x, *of_gamma;
    const float *mean, *rstd;
    int width;

    explicit Inputs(const Backward& call)
        : of_dy(call.dy.as<const T>()),
          of_x(call.x.as<const T>()),
          of_gamma(call.gamma.as<const T>()),
          mean(call.mean.as<const float>()),
          rstd(call.rstd.as<const float>()),
          width(static_cast<int>(call.width)) {}

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

__global__ void clear(float* dgamma, float* dbeta, int width) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= width) return;
    dgamma[j] = 0.0f;
    dbeta[j] = 0.0f;
}

__global__ void rows_of_all(Inputs<float> in, float* dx, float* dgamma, float* dbeta,
                            long long rows) {
    const long long r = thread_in_grid();
    if (r >= rows) return;
    const int width = in.width;
    const float rstd = in.rstd[r];
    float sum = 0.0f, sum_xhat = 0.0f;
    for (int j = 0; j < width; ++j) {
        const float xhat = in.from_mean(r, j) * rstd;
        sum += in.g(r, j);
        sum_xhat += in.g(r, j) * xhat;
        atomicAdd(&dgamma[j], in.dy(r, j) * xhat);
        atomicAdd(&dbeta[j], in.dy(r, j));
    }
    for (int j = 0; j < width; ++j) {
        const float xhat = in.from_mean(r, j) * rstd;
        dx[r * width + j] = rstd * (in.g(r, j) - (sum + xhat * sum_xhat) / width);
    }
}

void atomics(const Backward& call) {
    const Inputs<float> in(call);
    float *const dgamma = call.dgamma.as<float>(), *const dbeta = call.dbeta.as<float>();
    clear<<<blocks_of(in.width, 64), 64, 0, call.launch.stream>>>(dgamma, dbeta, in.width);
    if (call.rows == 0) return;
    rows_of_all<<<blocks_of(call.rows, 64), 64, 0, call.launch.stream>>>(in, call.dx.as<float>(),
                                                                         dgamma, dbeta, call.rows);
}

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
__global__ void columns_of_all(Inputs<T> in, T* dgamma, T* dbeta, long long rows) {
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
void columns(const Backward& call) {
    const Inputs<T> in(call);
    const int threads = call.launch.block_size;
    T* const dgamma = call.wants("dgamma") ? call.dgamma.as<T>() : nullptr;
    T* const dbeta = call.wants("dbeta") ? call.dbeta.as<T>() : nullptr;
    if (call.wants("dx") && call.rows > 0)
        row_of_dx<<<static_cast<unsigned>(call.rows), threads, threads * sizeof(float),
                    call.launch.stream>>>(in, call.dx.as<T>());
    if (dgamma || dbeta)
        columns_of_all<<<blocks_of(in.width, 64), 64, 0, call.launch.stream>>>(in, dgamma, dbeta,
                                                                               call.rows);
}

std::int64_t threads_of_all(const gradverify::Problem& problem) {
    return 64 * problem.scalar("rows") + problem.scalar("width");
}

template <class T>
void declare_columns(gradverify::KernelDeclaration& kernel) {
    declare_elements<T>(kernel);
    kernel.takes_mask()
        .blocks_of({64, 32, 256})
        .aligned_to(sizeof(float))
        .costs({.barriers_per_thread = 18, .threads = threads_of_all});
}

}  // namespace

GRADVERIFY_KERNEL(Backward, "atomics", atomics).with(declare_elements<float>).not_deterministic();
GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(Backward, "columns", columns, declare_columns);
