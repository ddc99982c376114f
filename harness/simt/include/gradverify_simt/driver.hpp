// SPDX-License-Identifier: Apache-2.0
// The driver's names (cuda.h) that headers of other libraries need to be read. The device has no
// driver: a function of it that is asked for by name is an error that names the line.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/forced.hpp"
#include "gradverify_simt/tensor_map.hpp"

#include <cstdint>

#define CUDAAPI
using cuuint32_t = std::uint32_t;
using cuuint64_t = std::uint64_t;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;
using CUgraph = cudaGraph_t;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUkernel = struct CUkern_st*;
using CUlibrary = struct CUlib_st*;

enum CUresult {
    CUDA_SUCCESS = cudaSuccess,
    CUDA_ERROR_INVALID_VALUE = cudaErrorInvalidValue,
    CUDA_ERROR_OUT_OF_MEMORY = cudaErrorMemoryAllocation,
    CUDA_ERROR_NOT_INITIALIZED = cudaErrorInitializationError,
    CUDA_ERROR_NO_DEVICE = cudaErrorNoDevice,
    CUDA_ERROR_INVALID_DEVICE = cudaErrorInvalidDevice,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_INVALID_HANDLE = cudaErrorInvalidResourceHandle,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = cudaErrorNotReady,
    CUDA_ERROR_LAUNCH_FAILED = cudaErrorLaunchFailure,
    CUDA_ERROR_NOT_SUPPORTED = cudaErrorNotSupported,
    CUDA_ERROR_UNKNOWN = cudaErrorUnknown,
};

using CUlaunchAttributeID = cudaLaunchAttributeID;
using CUlaunchAttributeValue = cudaLaunchAttributeValue;
struct CUlaunchAttribute {
    CUlaunchAttributeID id;
    CUlaunchAttributeValue value;
};
constexpr auto CU_LAUNCH_ATTRIBUTE_IGNORE = cudaLaunchAttributeIgnore;
constexpr auto CU_LAUNCH_ATTRIBUTE_COOPERATIVE = cudaLaunchAttributeCooperative;
constexpr auto CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = cudaLaunchAttributeClusterDimension;
constexpr auto CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION =
    cudaLaunchAttributeProgrammaticStreamSerialization;
constexpr auto CU_LAUNCH_ATTRIBUTE_PRIORITY = cudaLaunchAttributePriority;
struct CUlaunchConfig {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute* attrs;
    unsigned numAttrs;
};

enum cudaDriverEntryPointQueryResult {
    cudaDriverEntryPointSuccess = 0,
    cudaDriverEntryPointSymbolNotFound = 1,
    cudaDriverEntryPointVersionNotSufficent = 2,
};
constexpr unsigned long long cudaEnableDefault = 0;
inline cudaError_t cudaGetDriverEntryPoint(const char*, void** function, unsigned long long,
                                           cudaDriverEntryPointQueryResult* result = nullptr,
                                           GRADVERIFY_SIMT_PLACE) {
    *function = nullptr;
    if (result != nullptr) *result = cudaDriverEntryPointSymbolNotFound;
    return gradverify_simt_refuse(
        cudaErrorNotSupported, "cudaGetDriverEntryPoint: the driver's functions run on cuda only",
        file, line);
}

using PFN_cuTensorMapEncodeTiled = CUresult(CUDAAPI*)(
    CUtensorMap*, CUtensorMapDataType, cuuint32_t rank, void* address, const cuuint64_t* sizes,
    const cuuint64_t* strides, const cuuint32_t* box, const cuuint32_t* element_strides,
    CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
using PFN_cuTensorMapEncodeIm2col = CUresult(CUDAAPI*)(
    CUtensorMap*, CUtensorMapDataType, cuuint32_t rank, void* address, const cuuint64_t* sizes,
    const cuuint64_t* strides, const int* lower_corner, const int* upper_corner,
    cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* element_strides,
    CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
