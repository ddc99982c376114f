// SPDX-License-Identifier: Apache-2.0
// cuBLAS calls of a launcher, in exact arithmetic.
#include "harness/simt/tests/construct.hpp"

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

static void check_blas(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS)
        throw std::runtime_error("cuBLAS " + std::to_string(status));
}

namespace {
constexpr int m = 3, n = 4, k = 5, batch = 2;
float a_at(int i) { return float(i % 7 - 3); }
float b_at(int i) { return float(i % 5 - 2); }
/// Column-major: op(A) is m x k and given transposed, B is k x n.
std::vector<float> product(float alpha, float beta) {
    return table(batch * m * n, [=](int i) {
        const int which = i / (m * n), row = i % m, column = i / m % n;
        float sum = 0;
        for (int j = 0; j < k; ++j)
            sum += a_at(which * m * k + row * k + j) * b_at(which * k * n + column * k + j);
        return alpha * sum + beta * float(i);
    });
}
}  // namespace

CONSTRUCT(cublas_matrix_products) {
    cublasHandle_t handle;
    check_blas(cublasCreate(&handle));
    cudaStream_t stream;
    CHECK_CUDA(cudaStreamCreate(&stream));
    check_blas(cublasSetStream(handle, stream));
    const std::vector<float> a = table(batch * m * k, a_at), b = table(batch * k * n, b_at);
    const std::vector<float> c = construct::numbers(batch * m * n);
    {
        const float alpha = 2, beta = 3;
        Array<float> from_a(a), from_b(b), to(c);
        check_blas(cublasSgemmStridedBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &alpha,
                                             from_a, k, m * k, from_b, k, k * n, &beta, to, m,
                                             m * n, batch));
        report.equal("sgemm of a batch", to.host(), product(2, 3));
        check_blas(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &alpha, from_a, k, from_b,
                               k, &beta, to, m));
    }
    {
        const double alpha = 1, beta = 0;
        Array<double> from_a(as<double>(a)), from_b(as<double>(b));
        Array<double> to(std::vector<double>(m * n, NAN));
        check_blas(cublasDgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &alpha, from_a, k, from_b,
                               k, &beta, to, m));
        std::vector<float> want = product(1, 0);
        want.resize(m * n);
        report.equal("dgemm over NaN", to.host(), as<double>(want));
    }
    {
        const float alpha = 1, beta = 0;
        Array<__half> from_a(as<__half>(a)), from_b(as<__half>(b));
        Array<float> to(batch * m * n);
        check_blas(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &alpha,
                                              from_a, CUDA_R_16F, k, m * k, from_b, CUDA_R_16F, k,
                                              k * n, &beta, to, CUDA_R_32F, m, m * n, batch,
                                              CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
        report.equal("half to float", to.host(), product(1, 0));
        // As before CUDA 11, with an element type for the type of sums.
        check_blas(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &alpha,
                                              from_a, CUDA_R_16F, k, m * k, from_b, CUDA_R_16F, k,
                                              k * n, &beta, to, CUDA_R_32F, m, m * n, batch,
                                              CUDA_R_32F, CUBLAS_GEMM_DEFAULT));
        report.equal("half to float, by an element type", to.host(), product(1, 0));
    }
    {
        const float alpha = 1, beta = 0;
        Array<float> matrix(table(m * k, a_at)), x(table(k, b_at)), y(m);
        check_blas(cublasSgemv(handle, CUBLAS_OP_N, m, k, &alpha, matrix, m, x, 1, &beta, y, 1));
        report.equal("sgemv", y.host(), [](int row) {
            float sum = 0;
            for (int i = 0; i < k; ++i) sum += a_at(row + i * m) * b_at(i);
            return sum;
        });
    }
    CHECK_CUDA(cudaStreamDestroy(stream));
    check_blas(cublasDestroy(handle));
}
