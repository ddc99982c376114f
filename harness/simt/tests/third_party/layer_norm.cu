// SPDX-License-Identifier: Apache-2.0
// Layer norm as training loops in plain CUDA write it: a warp for each row forward, a block for
// each row backward, sums by cooperative groups, shared memory and atomics.
#include <assert.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#define CEIL_DIV(M, N) (((M) + (N) - 1) / (N))

inline void cuda_check(cudaError_t error, const char* file, int line) {
    if (error != cudaSuccess) {
        printf("[CUDA ERROR] at file %s:%d:\n%s\n", file, line, cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
}
#define cudaCheck(err) (cuda_check(err, __FILE__, __LINE__))

__global__ void layernorm_forward_kernel3(float* __restrict__ out, float* __restrict__ mean,
                                          float* __restrict__ rstd, const float* __restrict__ inp,
                                          const float* __restrict__ weight,
                                          const float* __restrict__ bias, int N, int C) {
    namespace cg = cooperative_groups;
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int idx = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (idx >= N) {
        return;
    }
    const float* x = inp + idx * C;
    float sum = 0.0f;
    for (int i = warp.thread_rank(); i < C; i += warp.size()) {
        sum += x[i];
    }
    sum = cg::reduce(warp, sum, cg::plus<float>{});
    float m = sum / C;
    if (warp.thread_rank() == 0 && mean != nullptr) {
        __stcs(mean + idx, m);
    }
    sum = 0.0f;
    for (int i = warp.thread_rank(); i < C; i += warp.size()) {
        float diff = x[i] - m;
        sum += diff * diff;
    }
    sum = cg::reduce(warp, sum, cg::plus<float>{});
    float s = rsqrtf(sum / C + 1e-5f);
    if (warp.thread_rank() == 0 && rstd != nullptr) {
        __stcs(rstd + idx, s);
    }
    float* o = out + idx * C;
    for (int c = warp.thread_rank(); c < C; c += warp.size()) {
        float n = s * (__ldcs(x + c) - m);
        __stcs(o + c, n * weight[c] + bias[c]);
    }
}

__device__ float warpReduceSum(float val) {
    for (int offset = 16; offset > 0; offset /= 2) {
        val += __shfl_xor_sync(0xFFFFFFFF, val, offset);
    }
    return val;
}

template <int block_size>
__global__ void __launch_bounds__(block_size)
    layernorm_backward_kernel(float* dinp, float* dweight, float* dbias, const float* dout,
                              const float* inp, const float* weight, const float* mean,
                              const float* rstd, int C) {
    extern __shared__ float shared[];
    float* dbias_shared = shared;
    float* dweight_shared = shared + C;
    __shared__ float warp_sums[2][block_size / 32];
    assert(blockDim.x == block_size);
    const int row = blockIdx.x, tid = threadIdx.x, lane = tid % warpSize, warp = tid / warpSize;
    dout += row * C, inp += row * C, dinp += row * C;
    for (int i = tid; i < C; i += block_size) {
        dbias_shared[i] = dweight_shared[i] = 0.0f;
    }
    __syncthreads();
    float dnorm_mean = 0.0f, dnorm_norm_mean = 0.0f;
    for (int i = tid; i < C; i += block_size) {
        float norm = (inp[i] - mean[row]) * rstd[row];
        float dnorm = weight[i] * dout[i];
        dnorm_mean += dnorm;
        dnorm_norm_mean += dnorm * norm;
        atomicAdd(&dbias_shared[i], dout[i]);
        atomicAdd(&dweight_shared[i], norm * dout[i]);
    }
    dnorm_mean = warpReduceSum(dnorm_mean);
    dnorm_norm_mean = warpReduceSum(dnorm_norm_mean);
    if (lane == 0) {
        warp_sums[0][warp] = dnorm_mean;
        warp_sums[1][warp] = dnorm_norm_mean;
    }
    __syncthreads();
    dnorm_mean = lane < block_size / 32 ? warp_sums[0][lane] : 0.0f;
    dnorm_norm_mean = lane < block_size / 32 ? warp_sums[1][lane] : 0.0f;
    dnorm_mean = warpReduceSum(dnorm_mean) / C;
    dnorm_norm_mean = warpReduceSum(dnorm_norm_mean) / C;
    for (int i = tid; i < C; i += block_size) {
        float norm = (inp[i] - mean[row]) * rstd[row];
        dinp[i] += (weight[i] * dout[i] - dnorm_mean - norm * dnorm_norm_mean) * rstd[row];
        atomicAdd(&dbias[i], dbias_shared[i]);
        atomicAdd(&dweight[i], dweight_shared[i]);
    }
}

void layernorm_forward(float* out, float* mean, float* rstd, const float* inp, const float* weight,
                       const float* bias, int N, int C) {
    const int block_size = 64;
    layernorm_forward_kernel3<<<CEIL_DIV(N * 32, block_size), block_size>>>(out, mean, rstd, inp,
                                                                            weight, bias, N, C);
    cudaCheck(cudaGetLastError());
}

void layernorm_backward(float* dinp, float* dweight, float* dbias, const float* dout,
                        const float* inp, const float* weight, const float* mean, const float* rstd,
                        int N, int C) {
    size_t shared_mem_size = 2 * C * sizeof(float);
    layernorm_backward_kernel<128>
        <<<N, 128, shared_mem_size>>>(dinp, dweight, dbias, dout, inp, weight, mean, rstd, C);
    cudaCheck(cudaGetLastError());
}
