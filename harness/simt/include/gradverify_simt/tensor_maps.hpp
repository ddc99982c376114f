// SPDX-License-Identifier: Apache-2.0
// Tensor maps of the driver API, and how a launcher asks the run-time API for their functions. The
// library (ptx/tensor_maps.cpp) encodes them in a form of its own.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <cstring>

#include "gradverify_simt/runtime_launch.hpp"

// clang-format off
enum CUresult {
    CUDA_SUCCESS = cudaSuccess, CUDA_ERROR_INVALID_VALUE = cudaErrorInvalidValue,
    CUDA_ERROR_OUT_OF_MEMORY = cudaErrorMemoryAllocation,
    CUDA_ERROR_NOT_INITIALIZED = cudaErrorInitializationError,
    CUDA_ERROR_NO_DEVICE = cudaErrorNoDevice, CUDA_ERROR_INVALID_DEVICE = cudaErrorInvalidDevice,
    CUDA_ERROR_INVALID_CONTEXT = 201, CUDA_ERROR_INVALID_HANDLE = cudaErrorInvalidResourceHandle,
    CUDA_ERROR_NOT_FOUND = 500, CUDA_ERROR_NOT_READY = cudaErrorNotReady,
    CUDA_ERROR_LAUNCH_FAILED = cudaErrorLaunchFailure,
    CUDA_ERROR_NOT_SUPPORTED = cudaErrorNotSupported, CUDA_ERROR_UNKNOWN = cudaErrorUnknown,
};
// clang-format on
using cuuint32_t = std::uint32_t;
using cuuint64_t = std::uint64_t;

constexpr int CU_TENSOR_MAP_NUM_QWORDS = 16;
struct alignas(64) CUtensorMap_st {
    cuuint64_t opaque[CU_TENSOR_MAP_NUM_QWORDS];
};
using CUtensorMap = CUtensorMap_st;

// clang-format off
enum CUtensorMapDataType {
    CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0, CU_TENSOR_MAP_DATA_TYPE_UINT16,
    CU_TENSOR_MAP_DATA_TYPE_UINT32, CU_TENSOR_MAP_DATA_TYPE_INT32, CU_TENSOR_MAP_DATA_TYPE_UINT64,
    CU_TENSOR_MAP_DATA_TYPE_INT64, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT64, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
    CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B,
    CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B,
};
enum CUtensorMapInterleave {
    CU_TENSOR_MAP_INTERLEAVE_NONE = 0, CU_TENSOR_MAP_INTERLEAVE_16B, CU_TENSOR_MAP_INTERLEAVE_32B,
};
enum CUtensorMapSwizzle {
    CU_TENSOR_MAP_SWIZZLE_NONE = 0, CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_64B,
    CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B,
    CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B,
};
enum CUtensorMapL2promotion {
    CU_TENSOR_MAP_L2_PROMOTION_NONE = 0, CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
    CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
};
enum CUtensorMapFloatOOBfill {
    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
};
// clang-format on

#define cuTensorMapEncodeTiled gradverify_simt_tensor_map_encode_tiled
#define cuTensorMapEncodeIm2col gradverify_simt_tensor_map_encode_im2col
#define cuTensorMapReplaceAddress gradverify_simt_tensor_map_replace_address
extern "C" {
CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* dimensions,
                                const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill);
CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                 void* address, const cuuint64_t* dimensions,
                                 const cuuint64_t* strides, const int* lower_corner,
                                 const int* upper_corner, cuuint32_t channels, cuuint32_t pixels,
                                 const cuuint32_t* element_strides,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);
CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address);
}
using PFN_cuTensorMapEncodeTiled_v12000 = decltype(&cuTensorMapEncodeTiled);
using PFN_cuTensorMapEncodeTiled = PFN_cuTensorMapEncodeTiled_v12000;
using PFN_cuTensorMapEncodeIm2col_v12000 = decltype(&cuTensorMapEncodeIm2col);
using PFN_cuTensorMapEncodeIm2col = PFN_cuTensorMapEncodeIm2col_v12000;
using PFN_cuTensorMapReplaceAddress_v12000 = decltype(&cuTensorMapReplaceAddress);
using PFN_cuTensorMapReplaceAddress = PFN_cuTensorMapReplaceAddress_v12000;

// clang-format off
enum cudaDriverEntryPointQueryResult {
    cudaDriverEntryPointSuccess = 0, cudaDriverEntryPointSymbolNotFound = 1,
    cudaDriverEntryPointVersionNotSufficent = 2,
};
// clang-format on
constexpr unsigned long long cudaEnableDefault = 0, cudaEnableLegacyStream = 1,
                             cudaEnablePerThreadDefaultStream = 2;

/// Finds the functions above; to ask for another one is an error.
inline cudaError_t cudaGetDriverEntryPointByVersion(
    const char* symbol, void** function, unsigned, unsigned long long,
    cudaDriverEntryPointQueryResult* result = nullptr, GRADVERIFY_SIMT_PLACE) {
    *function = nullptr;
    if (std::strcmp(symbol, "cuTensorMapEncodeTiled") == 0)
        *function = reinterpret_cast<void*>(&cuTensorMapEncodeTiled);
    if (std::strcmp(symbol, "cuTensorMapEncodeIm2col") == 0)
        *function = reinterpret_cast<void*>(&cuTensorMapEncodeIm2col);
    if (std::strcmp(symbol, "cuTensorMapReplaceAddress") == 0)
        *function = reinterpret_cast<void*>(&cuTensorMapReplaceAddress);
    const bool found = *function != nullptr;
    if (result != nullptr)
        *result = found ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return found ? cudaSuccess
                 : gradverify_simt_refuse(
                       cudaErrorNotSupported,
                       "cudaGetDriverEntryPoint: the driver's functions run on cuda only", file,
                       line);
}
inline cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function,
                                           unsigned long long flags,
                                           cudaDriverEntryPointQueryResult* result = nullptr,
                                           GRADVERIFY_SIMT_PLACE) {
    return cudaGetDriverEntryPointByVersion(symbol, function, 12000, flags, result, file, line);
}
