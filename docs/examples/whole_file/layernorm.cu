// SPDX-License-Identifier: Apache-2.0
// Layer norm of a training program, which knows nothing of gradverify: a block for each row, sums
// of a block by shuffles and shared memory, the gradients of scale and shift by atomics.
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                         \
    do {                                                                                         \
        const cudaError_t status = (call);                                                       \
        if (status != cudaSuccess) {                                                             \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            std::exit(EXIT_FAILURE);                                                             \
        }                                                                                        \
    } while (0)

constexpr int kThreads = 128;

template <int threads>
__device__ float block_sum(float value) {
    __shared__ float of_warp[threads / 32];
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0.0f;
    for (int w = 0; w < threads / 32; ++w) sum += of_warp[w];
    __syncthreads();
    return sum;
}

__global__ void layernorm_forward_kernel(const float* __restrict__ x,
                                         const float* __restrict__ gamma,
                                         const float* __restrict__ beta, float* y, float* mean,
                                         float* rstd, int width, float eps) {
    const int row = blockIdx.x;
    x += row * width;
    y += row * width;
    float sum = 0.0f;
    for (int j = threadIdx.x; j < width; j += blockDim.x) sum += x[j];
    const float m = block_sum<kThreads>(sum) / width;
    float squares = 0.0f;
    for (int j = threadIdx.x; j < width; j += blockDim.x) squares += (x[j] - m) * (x[j] - m);
    const float r = rsqrtf(block_sum<kThreads>(squares) / width + eps);
    for (int j = threadIdx.x; j < width; j += blockDim.x)
        y[j] = (x[j] - m) * r * gamma[j] + beta[j];
    if (threadIdx.x == 0) {
        mean[row] = m;
        rstd[row] = r;
    }
}

__global__ void layernorm_backward_kernel(const float* dy, const float* x, const float* gamma,
                                          const float* mean, const float* rstd, float* dx,
                                          float* dgamma, float* dbeta, int width) {
    extern __shared__ float normed[];
    const int row = blockIdx.x;
    dy += row * width;
    x += row * width;
    dx += row * width;
    float sum = 0.0f, product = 0.0f;
    for (int j = threadIdx.x; j < width; j += blockDim.x) {
        normed[j] = (x[j] - mean[row]) * rstd[row];
        sum += dy[j] * gamma[j];
        product += dy[j] * gamma[j] * normed[j];
        atomicAdd(dgamma + j, dy[j] * normed[j]);
        atomicAdd(dbeta + j, dy[j]);
    }
    sum = block_sum<kThreads>(sum) / width;
    product = block_sum<kThreads>(product) / width;
    for (int j = threadIdx.x; j < width; j += blockDim.x)
        dx[j] = (dy[j] * gamma[j] - sum - normed[j] * product) * rstd[row];
}

void layernorm_forward(const float* x, const float* gamma, const float* beta, float* y, float* mean,
                       float* rstd, int rows, int width, float eps) {
    layernorm_forward_kernel<<<rows, kThreads>>>(x, gamma, beta, y, mean, rstd, width, eps);
    CUDA_CHECK(cudaGetLastError());
}

void layernorm_backward(const float* dy, const float* x, const float* gamma, const float* mean,
                        const float* rstd, float* dx, float* dgamma, float* dbeta, int rows,
                        int width) {
    CUDA_CHECK(cudaMemset(dgamma, 0, width * sizeof(float)));
    CUDA_CHECK(cudaMemset(dbeta, 0, width * sizeof(float)));
    layernorm_backward_kernel<<<rows, kThreads, width * sizeof(float)>>>(dy, x, gamma, mean, rstd,
                                                                         dx, dgamma, dbeta, width);
    CUDA_CHECK(cudaGetLastError());
}
