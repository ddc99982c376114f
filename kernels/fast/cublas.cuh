// SPDX-License-Identifier: Apache-2.0
// Batched products of row-major or transposed matrices by cuBLAS, without TF32: sums are in the
// type of the tensors. cuBLAS is loaded when it is first needed: it takes long, and a machine may
// lack it. On the cpu device the harness's own cublas_v2.h serves the same calls.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>
#ifdef __NVCC__
#include <dlfcn.h>
#endif

#include <algorithm>
#include <climits>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace gradverify {

/// Its functions, without the `cublas` in front.
struct Cublas {
    std::string why_absent;  ///< empty where it is here
    decltype(&cublasCreate) Create = nullptr;
    decltype(&cublasSetStream) SetStream = nullptr;
    decltype(&cublasSetMathMode) SetMathMode = nullptr;
    decltype(&cublasGetStatusString) GetStatusString = nullptr;
    decltype(&cublasSgemmStridedBatched) SgemmStridedBatched = nullptr;
    decltype(&cublasDgemmStridedBatched) DgemmStridedBatched = nullptr;
};

inline const Cublas& cublas() {
    static const Cublas loaded = [] {
#ifdef __NVCC__
        Cublas library;
        // It has the version that the kernels are compiled for, and is never unloaded.
        const std::string name = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
        void* const opened = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
        if (!opened) {
            const char* const why = dlerror();
            library.why_absent = why ? why : name + " can't be loaded";
            return library;
        }
        const auto load = [&](auto& function, const char* symbol) {
            function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(opened, symbol));
            if (!function) library.why_absent = name + " has no " + symbol;
        };
        load(library.Create, "cublasCreate_v2");
        load(library.SetStream, "cublasSetStream_v2");
        load(library.SetMathMode, "cublasSetMathMode");
        load(library.GetStatusString, "cublasGetStatusString");
        load(library.SgemmStridedBatched, "cublasSgemmStridedBatched");
        load(library.DgemmStridedBatched, "cublasDgemmStridedBatched");
        return library;
#else
        return Cublas{{},
                      cublasCreate,
                      cublasSetStream,
                      cublasSetMathMode,
                      cublasGetStatusString,
                      cublasSgemmStridedBatched,
                      cublasDgemmStridedBatched};
#endif
    }();
    return loaded;
}

/// For `.needs()` of a kernel that calls it.
inline std::string why_cublas_is_absent() { return cublas().why_absent; }

inline void check_cublas(cublasStatus_t status, const char* call) {
    if (status != CUBLAS_STATUS_SUCCESS)
        throw std::runtime_error(std::string(call) + ": " + cublas().GetStatusString(status));
}

/// The process's handle, put on the stream.
inline cublasHandle_t cublas_on(cudaStream_t stream) {
    static const cublasHandle_t handle = [] {
        cublasHandle_t made = nullptr;
        check_cublas(cublas().Create(&made), "cublasCreate");
        check_cublas(cublas().SetMathMode(made, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
        return made;
    }();
    check_cublas(cublas().SetStream(handle, stream), "cublasSetStream");
    return handle;
}

/// A batch of factors or results, `stride` elements apart; 0 where all share one.
template <class T>
struct BatchedMatrix {
    T* data;
    long long row;  ///< elements from one row to the next
    long long stride = 0;
    bool is_transposed = false;  ///< the factor is the transpose of what lies there
};

struct ProductSizes {
    long long rows, columns, terms, batch;
};

inline int cublas_int(long long value) {
    if (value > INT_MAX)
        throw std::invalid_argument("cuBLAS takes sizes below 2^31, not " + std::to_string(value));
    return static_cast<int>(value);
}

/// Some versions of cuBLAS refuse more, which would be the last axis of a grid.
constexpr long long cublas_batch = 65535;

/// Of one call: version 13 ends in an internal error from 2^31 - 64512 on. On the cpu device so few
/// that common problems have several parts.
#ifdef __NVCC__
constexpr long long cublas_columns = 1ll << 30;
#else
constexpr long long cublas_columns = 64;
#endif

/// result = a b + keep * result; with `keep` 0 the result may hold anything before.
///
/// **Shapes** a `rows, terms`; b `terms, columns`; result `rows, columns`.
template <class T>
void cublas_product(const ProductSizes& sizes, const BatchedMatrix<const T>& a,
                    const BatchedMatrix<const T>& b, const BatchedMatrix<T>& result, T keep,
                    cudaStream_t stream) {
    // cuBLAS counts by columns, so each matrix is its transpose there: result^T = b^T a^T.
    const auto op = [](const BatchedMatrix<const T>& of) {
        return of.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    };
    const T one = 1;
    const auto run = [&](auto gemm, const char* call, long long first, long long column) {
        const long long batch = std::min(sizes.batch - first, cublas_batch);
        const long long columns = std::min(sizes.columns - column, cublas_columns);
        const T* const b_data = b.data + first * b.stride + column * (b.is_transposed ? b.row : 1);
        check_cublas(gemm(cublas_on(stream), op(b), op(a), cublas_int(columns),
                          cublas_int(sizes.rows), cublas_int(sizes.terms), &one, b_data,
                          cublas_int(b.row), b.stride, a.data + first * a.stride, cublas_int(a.row),
                          a.stride, &keep, result.data + first * result.stride + column,
                          cublas_int(result.row), result.stride, cublas_int(batch)),
                     call);
    };
    for (long long first = 0; first < sizes.batch; first += cublas_batch)
        for (long long column = 0; column < sizes.columns; column += cublas_columns)
            if constexpr (sizeof(T) == sizeof(double))
                run(cublas().DgemmStridedBatched, "cublasDgemmStridedBatched", first, column);
            else
                run(cublas().SgemmStridedBatched, "cublasSgemmStridedBatched", first, column);
}

}  // namespace gradverify
