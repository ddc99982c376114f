// SPDX-License-Identifier: Apache-2.0
// Products of column-major matrices of cuBLAS. Sums are in the compute type, in ascending order.
#pragma once
#pragma GCC system_header

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "gradverify_simt/forced.hpp"
#include "library_types.h"

// clang-format off
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3, CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13, CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15, CUBLAS_STATUS_LICENSE_ERROR = 16 };
using cublasDataType_t = cudaDataType;
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };
enum cublasMath_t { CUBLAS_DEFAULT_MATH = 0, CUBLAS_TENSOR_OP_MATH = 1, CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16 };
enum cublasComputeType_t { CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69, CUBLAS_COMPUTE_64F = 70, CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75, CUBLAS_COMPUTE_32F_FAST_TF32 = 77 };
// clang-format on
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 };

struct cublasContext {
    cudaStream_t stream = nullptr;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
    cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
};
using cublasHandle_t = cublasContext*;

GRADVERIFY_SIMT_HANDLE(cublas, cublasStatus_t)
#define GRADVERIFY_SIMT_BLAS_SETTING(NAME, T, FIELD)                         \
    inline cublasStatus_t cublasSet##NAME(cublasHandle_t handle, T FIELD) {  \
        handle->FIELD = FIELD;                                               \
        return CUBLAS_STATUS_SUCCESS;                                        \
    }                                                                        \
    inline cublasStatus_t cublasGet##NAME(cublasHandle_t handle, T* FIELD) { \
        *FIELD = handle->FIELD;                                              \
        return CUBLAS_STATUS_SUCCESS;                                        \
    }
GRADVERIFY_SIMT_BLAS_SETTING(Stream, cudaStream_t, stream)
GRADVERIFY_SIMT_BLAS_SETTING(MathMode, cublasMath_t, math)
GRADVERIFY_SIMT_BLAS_SETTING(PointerMode, cublasPointerMode_t, pointers)
#undef GRADVERIFY_SIMT_BLAS_SETTING
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, std::size_t) {
    return CUBLAS_STATUS_SUCCESS;
}
inline const char* cublasGetStatusString(cublasStatus_t status) {
    return status == CUBLAS_STATUS_SUCCESS ? "success" : "cuBLAS call failed";
}

namespace gradverify::simt::unit {

/// C = alpha op(A) op(B) + beta C for each matrix of a batch.
struct Gemm {
    cublasOperation_t op_a, op_b;
    int m, n, k;
    int lda, ldb, ldc;
    long long stride_a = 0, stride_b = 0, stride_c = 0;
    int batch = 1;

    bool is_valid() const {
        const auto at_least = [](int value, int least) { return value >= (least < 1 ? 1 : least); };
        return m >= 0 && n >= 0 && k >= 0 && batch >= 0 &&
               at_least(lda, op_a == CUBLAS_OP_N ? m : k) &&
               at_least(ldb, op_b == CUBLAS_OP_N ? k : n) && at_least(ldc, m);
    }
    template <class Sum, class A, class B, class C>
    cublasStatus_t run(Sum alpha, const A* a, const B* b, Sum beta, C* c) const {
        if (!is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
        for (long long i = 0; i < batch; ++i)
            one(alpha, a + i * stride_a, b + i * stride_b, beta, c + i * stride_c);
        return CUBLAS_STATUS_SUCCESS;
    }
    template <class Sum, class A, class B, class C>
    void one(Sum alpha, const A* a, const B* b, Sum beta, C* c) const {
        const std::ptrdiff_t a_row = op_a == CUBLAS_OP_N ? 1 : lda;
        const std::ptrdiff_t a_column = op_a == CUBLAS_OP_N ? lda : 1;
        const std::ptrdiff_t b_row = op_b == CUBLAS_OP_N ? 1 : ldb;
        const std::ptrdiff_t b_column = op_b == CUBLAS_OP_N ? ldb : 1;
        for (std::ptrdiff_t column = 0; column < n; ++column) {
            for (std::ptrdiff_t row = 0; row < m; ++row) {
                Sum sum = 0;
                for (std::ptrdiff_t i = 0; i < k; ++i) {
                    sum += static_cast<Sum>(a[row * a_row + i * a_column]) *
                           static_cast<Sum>(b[i * b_row + column * b_column]);
                }
                C& at = c[row + column * ldc];
                // With beta 0, C is not read: it may hold anything.
                at = static_cast<C>(beta == Sum(0) ? alpha * sum
                                                   : alpha * sum + beta * static_cast<Sum>(at));
            }
        }
    }
};
template <class T>
T scalar_of(const void* pointer) {
    return *static_cast<const T*>(pointer);
}
cublasStatus_t with_type(cudaDataType type, auto visit) {
    if (type == CUDA_R_32F) return visit(float());
    if (type == CUDA_R_64F) return visit(double());
    if (type == CUDA_R_16F) return visit(__half());
    if (type == CUDA_R_16BF) return visit(__nv_bfloat16());
    return CUBLAS_STATUS_NOT_SUPPORTED;
}
struct Typed {
    const void* pointer;
    cudaDataType type;
};
/// The type of sums; code of before CUDA 11 gives an element type.
struct ComputeType {
    cublasComputeType_t value;
    ComputeType(cublasComputeType_t type) : value(type) {}
    ComputeType(cudaDataType type)
        : value(type == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
                : type == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                                     : CUBLAS_COMPUTE_32F) {}
    bool operator==(cublasComputeType_t other) const { return value == other; }
};
/// A and B of one type.
inline cublasStatus_t gemm_of_types(const Gemm& gemm, ComputeType compute, const void* alpha,
                                    Typed a, Typed b, const void* beta, Typed c) {
    const DeviceWork work;  // scalars may be the device's, too
    if (a.type != b.type || compute == CUBLAS_COMPUTE_16F) return CUBLAS_STATUS_NOT_SUPPORTED;
    return with_type(a.type, [&](auto of_a) {
        return with_type(c.type, [&](auto of_c) {
            using A = decltype(of_a);
            using C = decltype(of_c);
            auto* to = static_cast<C*>(const_cast<void*>(c.pointer));
            const auto* from_a = static_cast<const A*>(a.pointer);
            const auto* from_b = static_cast<const A*>(b.pointer);
            if (compute == CUBLAS_COMPUTE_64F) {
                return gemm.run(scalar_of<double>(alpha), from_a, from_b, scalar_of<double>(beta),
                                to);
            }
            return gemm.run(scalar_of<float>(alpha), from_a, from_b, scalar_of<float>(beta), to);
        });
    });
}

}  // namespace gradverify::simt::unit

#define GRADVERIFY_SIMT_GEMM(LETTER, T, SUM)                                                      \
    inline cublasStatus_t cublas##LETTER##gemm(                                                   \
        cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,      \
        const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) { \
        const gradverify::simt::unit::DeviceWork work;                                            \
        return gradverify::simt::unit::Gemm{op_a, op_b, m, n, k, lda, ldb, ldc}.run(              \
            static_cast<SUM>(*alpha), a, b, static_cast<SUM>(*beta), c);                          \
    }                                                                                             \
    inline cublasStatus_t cublas##LETTER##gemmStridedBatched(                                     \
        cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,      \
        const T* alpha, const T* a, int lda, long long stride_a, const T* b, int ldb,             \
        long long stride_b, const T* beta, T* c, int ldc, long long stride_c, int batch) {        \
        const gradverify::simt::unit::DeviceWork work;                                            \
        return gradverify::simt::unit::Gemm{op_a, op_b, m,        n,        k,        lda,        \
                                            ldb,  ldc,  stride_a, stride_b, stride_c, batch}      \
            .run(static_cast<SUM>(*alpha), a, b, static_cast<SUM>(*beta), c);                     \
    }
GRADVERIFY_SIMT_GEMM(S, float, float)
GRADVERIFY_SIMT_GEMM(D, double, double)
GRADVERIFY_SIMT_GEMM(H, __half, float)
#undef GRADVERIFY_SIMT_GEMM

inline cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b,
                                   int m, int n, int k, const void* alpha, const void* a,
                                   cudaDataType type_a, int lda, const void* b, cudaDataType type_b,
                                   int ldb, const void* beta, void* c, cudaDataType type_c, int ldc,
                                   gradverify::simt::unit::ComputeType compute, cublasGemmAlgo_t) {
    return gradverify::simt::unit::gemm_of_types({op_a, op_b, m, n, k, lda, ldb, ldc}, compute,
                                                 alpha, {a, type_a}, {b, type_b}, beta,
                                                 {c, type_c});
}
inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
    const void* alpha, const void* a, cudaDataType type_a, int lda, long long stride_a,
    const void* b, cudaDataType type_b, int ldb, long long stride_b, const void* beta, void* c,
    cudaDataType type_c, int ldc, long long stride_c, int batch,
    gradverify::simt::unit::ComputeType compute, cublasGemmAlgo_t) {
    return gradverify::simt::unit::gemm_of_types(
        {op_a, op_b, m, n, k, lda, ldb, ldc, stride_a, stride_b, stride_c, batch}, compute, alpha,
        {a, type_a}, {b, type_b}, beta, {c, type_c});
}

#define GRADVERIFY_SIMT_BLAS(LETTER, T)                                                            \
    /* y = alpha op(A) x + beta y */                                                               \
    inline cublasStatus_t cublas##LETTER##gemv(cublasHandle_t, cublasOperation_t op, int m, int n, \
                                               const T* alpha, const T* a, int lda, const T* x,    \
                                               int x_step, const T* beta, T* y, int y_step) {      \
        const gradverify::simt::unit::DeviceWork work;                                             \
        const bool plain = op == CUBLAS_OP_N;                                                      \
        const cublasOperation_t op_b = plain ? CUBLAS_OP_T : CUBLAS_OP_N;                          \
        const int outputs = plain ? m : n, inputs = plain ? n : m;                                 \
        /* as rows: y = alpha x op(A)^T + beta y */                                                \
        const gradverify::simt::unit::Gemm rows{CUBLAS_OP_N, op_b,   1,   outputs,                 \
                                                inputs,      x_step, lda, y_step};                 \
        return rows.run(*alpha, x, a, *beta, y);                                                   \
    }                                                                                              \
    inline cublasStatus_t cublas##LETTER##axpy(cublasHandle_t, int n, const T* alpha, const T* x,  \
                                               int x_step, T* y, int y_step) {                     \
        const gradverify::simt::unit::DeviceWork work;                                             \
        for (std::ptrdiff_t i = 0; i < n; ++i) y[i * y_step] += *alpha * x[i * x_step];            \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                              \
    inline cublasStatus_t cublas##LETTER##scal(cublasHandle_t, int n, const T* alpha, T* x,        \
                                               int step) {                                         \
        const gradverify::simt::unit::DeviceWork work;                                             \
        for (std::ptrdiff_t i = 0; i < n; ++i) x[i * step] *= *alpha;                              \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                              \
    inline cublasStatus_t cublas##LETTER##dot(cublasHandle_t, int n, const T* x, int x_step,       \
                                              const T* y, int y_step, T* result) {                 \
        const gradverify::simt::unit::DeviceWork work;                                             \
        T sum = 0;                                                                                 \
        for (std::ptrdiff_t i = 0; i < n; ++i) sum += x[i * x_step] * y[i * y_step];               \
        *result = sum;                                                                             \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }
GRADVERIFY_SIMT_BLAS(S, float)
GRADVERIFY_SIMT_BLAS(D, double)
#undef GRADVERIFY_SIMT_BLAS
