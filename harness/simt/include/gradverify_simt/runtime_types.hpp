// SPDX-License-Identifier: Apache-2.0
// The types of the CUDA run-time API, with the real runtime's numbers for the error codes.
#pragma once
#pragma GCC system_header

#include <cstddef>

struct CUstream_st;
struct CUevent_st;
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;

// Each error with its number and the text of CUDA's own runtime.
#define GRADVERIFY_SIMT_ERRORS(ERROR)                                                       \
    ERROR(cudaSuccess, 0, "no error")                                                       \
    ERROR(cudaErrorInvalidValue, 1, "invalid argument")                                     \
    ERROR(cudaErrorMemoryAllocation, 2, "out of memory")                                    \
    ERROR(cudaErrorInitializationError, 3, "initialization error")                          \
    ERROR(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")               \
    ERROR(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                         \
    ERROR(cudaErrorInvalidSymbol, 13, "invalid device symbol")                              \
    ERROR(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                      \
    ERROR(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")         \
    ERROR(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                    \
    ERROR(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                     \
    ERROR(cudaErrorInvalidDevice, 101, "invalid device ordinal")                            \
    ERROR(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                   \
    ERROR(cudaErrorNotReady, 600, "device not ready")                                       \
    ERROR(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")         \
    ERROR(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")    \
    ERROR(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")           \
    ERROR(cudaErrorAssert, 710, "device-side assert triggered")                             \
    ERROR(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")       \
    ERROR(cudaErrorMisalignedAddress, 716, "misaligned address")                            \
    ERROR(cudaErrorLaunchFailure, 719, "unspecified launch failure")                        \
    ERROR(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch") \
    ERROR(cudaErrorNotSupported, 801, "operation not supported")
#define GRADVERIFY_SIMT_ENUMERATOR(NAME, NUMBER, TEXT) NAME = NUMBER,
enum cudaError { GRADVERIFY_SIMT_ERRORS(GRADVERIFY_SIMT_ENUMERATOR) cudaErrorUnknown = 999 };
#undef GRADVERIFY_SIMT_ENUMERATOR
using cudaError_t = cudaError;

// clang-format off
enum cudaMemcpyKind {
    cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault,
};
// clang-format on

// Each attribute with its number, and the field of cudaDeviceProp that holds its value.
#define GRADVERIFY_SIMT_ATTRIBUTES(ATTRIBUTE)                                              \
    ATTRIBUTE(cudaDevAttrMaxThreadsPerBlock, 1, maxThreadsPerBlock)                        \
    ATTRIBUTE(cudaDevAttrMaxBlockDimX, 2, maxThreadsDim[0])                                \
    ATTRIBUTE(cudaDevAttrMaxBlockDimY, 3, maxThreadsDim[1])                                \
    ATTRIBUTE(cudaDevAttrMaxBlockDimZ, 4, maxThreadsDim[2])                                \
    ATTRIBUTE(cudaDevAttrMaxGridDimX, 5, maxGridSize[0])                                   \
    ATTRIBUTE(cudaDevAttrMaxGridDimY, 6, maxGridSize[1])                                   \
    ATTRIBUTE(cudaDevAttrMaxGridDimZ, 7, maxGridSize[2])                                   \
    ATTRIBUTE(cudaDevAttrMaxSharedMemoryPerBlock, 8, sharedMemPerBlock)                    \
    ATTRIBUTE(cudaDevAttrTotalConstantMemory, 9, totalConstMem)                            \
    ATTRIBUTE(cudaDevAttrWarpSize, 10, warpSize)                                           \
    ATTRIBUTE(cudaDevAttrMaxRegistersPerBlock, 12, regsPerBlock)                           \
    ATTRIBUTE(cudaDevAttrClockRate, 13, clockRate)                                         \
    ATTRIBUTE(cudaDevAttrMultiProcessorCount, 16, multiProcessorCount)                     \
    ATTRIBUTE(cudaDevAttrMaxThreadsPerMultiProcessor, 39, maxThreadsPerMultiProcessor)     \
    ATTRIBUTE(cudaDevAttrComputeCapabilityMajor, 75, major)                                \
    ATTRIBUTE(cudaDevAttrComputeCapabilityMinor, 76, minor)                                \
    ATTRIBUTE(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81, sharedMemPerMultiprocessor) \
    ATTRIBUTE(cudaDevAttrMaxRegistersPerMultiprocessor, 82, regsPerMultiprocessor)         \
    ATTRIBUTE(cudaDevAttrCooperativeLaunch, 95, cooperativeLaunch)                         \
    ATTRIBUTE(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, sharedMemPerBlockOptin)         \
    ATTRIBUTE(cudaDevAttrMaxBlocksPerMultiprocessor, 106, maxBlocksPerMultiProcessor)
#define GRADVERIFY_SIMT_ENUMERATOR(NAME, NUMBER, FIELD) NAME = NUMBER,
enum cudaDeviceAttr { GRADVERIFY_SIMT_ATTRIBUTES(GRADVERIFY_SIMT_ENUMERATOR) };
#undef GRADVERIFY_SIMT_ENUMERATOR

// clang-format off
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9, cudaFuncAttributeClusterDimMustBeSet = 10,
    cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
    cudaFuncAttributeClusterSchedulingPolicyPreference = 15,
};
enum cudaFuncCache {
    cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual,
};
enum cudaSharedMemConfig {
    cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte,
};
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize };
enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1, cudaMemAdviseUnsetReadMostly = 2,
    cudaMemAdviseSetPreferredLocation = 3, cudaMemAdviseUnsetPreferredLocation = 4,
    cudaMemAdviseSetAccessedBy = 5, cudaMemAdviseUnsetAccessedBy = 6,
};
constexpr int cudaCpuDeviceId = -1;
enum cudaMemoryType {
    cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged,
};
// clang-format on
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};
using cudaHostFn_t = void (*)(void* data);
struct cudaFuncAttributes {
    std::size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
    int maxDynamicSharedSizeBytes, preferredShmemCarveout;
};

struct cudaDeviceProp {
    char name[256];
    std::size_t totalGlobalMem, sharedMemPerBlock, totalConstMem;
    int regsPerBlock, warpSize, maxThreadsPerBlock;
    int maxThreadsDim[3], maxGridSize[3];
    int clockRate, major, minor, multiProcessorCount, maxThreadsPerMultiProcessor;
    std::size_t sharedMemPerMultiprocessor, sharedMemPerBlockOptin;
    int regsPerMultiprocessor, l2CacheSize, memoryBusWidth, memoryClockRate;
    int cooperativeLaunch, concurrentKernels, unifiedAddressing, managedMemory, integrated;
    int maxBlocksPerMultiProcessor;
};

// clang-format off
enum : unsigned {
    cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaEventDefault = 0,
    cudaEventBlockingSync = 1, cudaEventDisableTiming = 2, cudaHostAllocDefault = 0,
    cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4,
    cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2,
    cudaDeviceScheduleAuto = 0, cudaDeviceScheduleBlockingSync = 4, cudaDeviceMapHost = 8,
    cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaOccupancyDefault = 0,
};
// clang-format on
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define CUDART_VERSION 12000
#define CUDA_VERSION CUDART_VERSION
#define CUDART_CB
