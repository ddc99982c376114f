// SPDX-License-Identifier: Apache-2.0
// A matrix product with tiles in shared memory and a register tile for each thread; and a
// convolution that unfolds the image into a workspace of its own and multiplies.
#include <cuda_runtime.h>
#include <cstdio>

#define TRY(call)                                                                     \
    do {                                                                              \
        cudaError_t status = (call);                                                  \
        if (status != cudaSuccess) {                                                  \
            std::fprintf(stderr, "%s failed: %s\n", #call, cudaGetErrorName(status)); \
            return static_cast<int>(status);                                          \
        }                                                                             \
    } while (false)

template <const int BM, const int BN, const int BK, const int TM>
__global__ void sgemm1DBlocktiling(int M, int N, int K, float alpha, const float* A, const float* B,
                                   float beta, float* C) {
    const unsigned cRow = blockIdx.y, cCol = blockIdx.x;
    const int threadCol = threadIdx.x % BN;
    const int threadRow = threadIdx.x / BN;
    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];
    const unsigned innerColA = threadIdx.x % BK, innerRowA = threadIdx.x / BK;
    const unsigned innerColB = threadIdx.x % BN, innerRowB = threadIdx.x / BN;
    float threadResults[TM] = {0.0};
    for (unsigned bkIdx = 0; bkIdx < unsigned(K); bkIdx += BK) {
        const unsigned rowA = cRow * BM + innerRowA, colA = bkIdx + innerColA;
        const unsigned rowB = bkIdx + innerRowB, colB = cCol * BN + innerColB;
        As[innerRowA * BK + innerColA] =
            rowA < unsigned(M) && colA < unsigned(K) ? A[rowA * K + colA] : 0;
        Bs[innerRowB * BN + innerColB] =
            rowB < unsigned(K) && colB < unsigned(N) ? B[rowB * N + colB] : 0;
        __syncthreads();
        for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
            const float tmpB = Bs[dotIdx * BN + threadCol];
            for (int resIdx = 0; resIdx < TM; ++resIdx)
                threadResults[resIdx] += As[(threadRow * TM + resIdx) * BK + dotIdx] * tmpB;
        }
        __syncthreads();
    }
    for (int resIdx = 0; resIdx < TM; ++resIdx) {
        const unsigned row = cRow * BM + threadRow * TM + resIdx, col = cCol * BN + threadCol;
        if (row < unsigned(M) && col < unsigned(N))
            C[row * N + col] = alpha * threadResults[resIdx] + beta * C[row * N + col];
    }
}

void sgemm(int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C) {
    const int BM = 32, BN = 32, BK = 8, TM = 4;
    dim3 gridDim((N + BN - 1) / BN, (M + BM - 1) / BM);
    dim3 blockDim((BM * BN) / TM);
    sgemm1DBlocktiling<BM, BN, BK, TM><<<gridDim, blockDim>>>(M, N, K, alpha, A, B, beta, C);
}

__global__ void im2col(const float* image, float* columns, int channels, int size, int filter) {
    const int out = size - filter + 1;
    const int total = channels * filter * filter * out * out;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += blockDim.x * gridDim.x) {
        const int x = i % out, y = i / out % out;
        const int s = i / (out * out) % filter, r = i / (out * out * filter) % filter;
        const int c = i / (out * out * filter * filter);
        columns[i] = image[(c * size + y + r) * size + x + s];
    }
}

int conv_forward(const float* image, const float* filters, float* out, int channels, int size,
                 int outputs, int filter) {
    const int out_size = size - filter + 1, taps = channels * filter * filter;
    float* workspace = NULL;
    TRY(cudaMalloc((void**)&workspace, sizeof(float) * taps * out_size * out_size));
    int blocks = 0, threads = 0;
    TRY(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, im2col));
    im2col<<<blocks, threads>>>(image, workspace, channels, size, filter);
    TRY(cudaGetLastError());
    sgemm(outputs, out_size * out_size, taps, 1.0f, filters, workspace, 0.0f, out);
    TRY(cudaGetLastError());
    TRY(cudaFree(workspace));
    return 0;
}
