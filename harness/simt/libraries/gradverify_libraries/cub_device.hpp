// SPDX-License-Identifier: Apache-2.0
// Declares those of CUB's algorithms for the whole device that run on cuda only.
#pragma once
#pragma GCC system_header

#include "gradverify_libraries/cub_served.hpp"
#include "gradverify_simt/cuda_only.hpp"

namespace cub {

struct CachingDeviceAllocator {
    CachingDeviceAllocator(auto...) {}
    cudaError_t DeviceAllocate(void** pointer, std::size_t bytes, cudaStream_t = nullptr) {
        return cudaMalloc(pointer, bytes);
    }
    cudaError_t DeviceFree(void* pointer) { return cudaFree(pointer); }
};

#define GRADVERIFY_SIMT_CUB_DEVICE(NAME, ...)                                          \
    struct NAME {                                                                      \
        GRADVERIFY_SIMT_CUDA_ONLY("algorithms of CUB for the whole device",            \
                                  "cub::" #NAME "::", static cudaError_t, __VA_ARGS__) \
    };
GRADVERIFY_SIMT_CUB_DEVICE(DeviceAdjacentDifference, SubtractLeft, SubtractLeftCopy, SubtractRight,
                           SubtractRightCopy)
GRADVERIFY_SIMT_CUB_DEVICE(DeviceFor, Bulk, ForEach, ForEachCopy, ForEachCopyN, ForEachN)
GRADVERIFY_SIMT_CUB_DEVICE(DeviceHistogram, HistogramEven, HistogramRange, MultiHistogramEven,
                           MultiHistogramRange)
GRADVERIFY_SIMT_CUB_DEVICE(DeviceMemcpy, Batched)
GRADVERIFY_SIMT_CUB_DEVICE(DevicePartition, Flagged, If)
GRADVERIFY_SIMT_CUB_DEVICE(DeviceRunLengthEncode, Encode, NonTrivialRuns)
GRADVERIFY_SIMT_CUB_DEVICE(DeviceSegmentedRadixSort, SortKeys, SortKeysDescending, SortPairs,
                           SortPairsDescending)
GRADVERIFY_SIMT_CUB_DEVICE(DeviceSegmentedSort, SortKeys, SortKeysDescending, SortPairs,
                           SortPairsDescending)
GRADVERIFY_SIMT_CUB_DEVICE(DeviceTransform, Fill, Generate, Transform)
#undef GRADVERIFY_SIMT_CUB_DEVICE

}  // namespace cub
