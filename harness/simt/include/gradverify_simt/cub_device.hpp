// SPDX-License-Identifier: Apache-2.0
// Declares CUB's algorithms for the whole device, which run on cuda only.
#pragma once
#pragma GCC system_header

#include "cub/gradverify_common.cuh"
#include "gradverify_simt/cuda_only.hpp"

namespace cub {

struct CachingDeviceAllocator {
    CachingDeviceAllocator(auto...) {}
    cudaError_t DeviceAllocate(void** pointer, std::size_t bytes, cudaStream_t = nullptr) {
        return cudaMalloc(pointer, bytes);
    }
    cudaError_t DeviceFree(void* pointer) { return cudaFree(pointer); }
};
// The two halves of a buffer that a sort swaps.
template <class T>
struct DoubleBuffer {
    T* d_buffers[2] = {};
    int selector = 0;
    DoubleBuffer() = default;
    DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
    T* Current() { return d_buffers[selector]; }
    T* Alternate() { return d_buffers[selector ^ 1]; }
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
GRADVERIFY_SIMT_CUB_DEVICE(DeviceMergeSort, SortKeys, SortKeysCopy, SortPairs, SortPairsCopy,
                           StableSortKeys, StableSortPairs)
GRADVERIFY_SIMT_CUB_DEVICE(DevicePartition, Flagged, If)
GRADVERIFY_SIMT_CUB_DEVICE(DeviceRadixSort, SortKeys, SortKeysDescending, SortPairs,
                           SortPairsDescending)
GRADVERIFY_SIMT_CUB_DEVICE(DeviceReduce, ArgMax, ArgMin, Max, Min, Reduce, ReduceByKey, Sum,
                           TransformReduce)
GRADVERIFY_SIMT_CUB_DEVICE(DeviceRunLengthEncode, Encode, NonTrivialRuns)
GRADVERIFY_SIMT_CUB_DEVICE(DeviceScan, ExclusiveScan, ExclusiveScanByKey, ExclusiveSum,
                           ExclusiveSumByKey, InclusiveScan, InclusiveScanByKey, InclusiveSum,
                           InclusiveSumByKey)
GRADVERIFY_SIMT_CUB_DEVICE(DeviceSegmentedRadixSort, SortKeys, SortKeysDescending, SortPairs,
                           SortPairsDescending)
GRADVERIFY_SIMT_CUB_DEVICE(DeviceSegmentedReduce, ArgMax, ArgMin, Max, Min, Reduce, Sum)
GRADVERIFY_SIMT_CUB_DEVICE(DeviceSegmentedSort, SortKeys, SortKeysDescending, SortPairs,
                           SortPairsDescending)
GRADVERIFY_SIMT_CUB_DEVICE(DeviceSelect, Flagged, If, Unique, UniqueByKey)
GRADVERIFY_SIMT_CUB_DEVICE(DeviceTransform, Fill, Generate, Transform)
#undef GRADVERIFY_SIMT_CUB_DEVICE

}  // namespace cub
