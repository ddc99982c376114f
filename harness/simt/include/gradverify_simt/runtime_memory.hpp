// SPDX-License-Identifier: Apache-2.0
// Rarer calls of the run-time API about memory: rows with a pitch, registered host memory, pools,
// hints. All memory can be reached from everywhere.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/runtime.hpp"

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);

template <class T>
inline cudaError_t cudaMallocPitch(T** pointer, std::size_t* pitch, std::size_t width,
                                   std::size_t height) {
    *pitch = (width + 511) / 512 * 512;
    return cudaMalloc(pointer, *pitch * height);
}
namespace gradverify::simt::unit {
/// `row(i)` for each row, up to the first error.
cudaError_t for_rows(std::size_t height, auto row) {
    cudaError_t error = cudaSuccess;
    for (std::size_t i = 0; i < height && error == cudaSuccess; ++i) error = row(i);
    return error;
}
}  // namespace gradverify::simt::unit

inline cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                     std::size_t from_pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
    return gradverify::simt::unit::for_rows(height, [=](std::size_t i) {
        return cudaMemcpyAsync(static_cast<char*>(to) + i * to_pitch,
                               static_cast<const char*>(from) + i * from_pitch, width, kind,
                               stream);
    });
}
inline cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                                std::size_t height) {
    return gradverify::simt::unit::for_rows(height, [=](std::size_t i) {
        return cudaMemset(static_cast<char*>(to) + i * pitch, value, width);
    });
}
inline cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                                     std::size_t height, cudaStream_t stream = nullptr) {
    return gradverify::simt::unit::for_rows(height, [=](std::size_t i) {
        return cudaMemsetAsync(static_cast<char*>(to) + i * pitch, value, width, stream);
    });
}
inline cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes) {
    return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}

// The one pool is the device's memory.
struct CUmemPoolHandle_st;
using cudaMemPool_t = CUmemPoolHandle_st*;
enum cudaMemPoolAttr {
    cudaMemPoolReuseFollowEventDependencies = 1,
    cudaMemPoolReuseAllowOpportunistic,
    cudaMemPoolReuseAllowInternalDependencies,
    cudaMemPoolAttrReleaseThreshold,
};
inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
    static char the_pool;
    *pool = reinterpret_cast<cudaMemPool_t>(&the_pool);
    return cudaSuccess;
}
inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
    return cudaDeviceGetDefaultMemPool(pool, device);
}
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
    return cudaSuccess;
}
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return cudaSuccess; }
template <class T>
inline cudaError_t cudaMallocFromPoolAsync(T** pointer, std::size_t bytes, cudaMemPool_t,
                                           cudaStream_t stream) {
    return cudaMallocAsync(pointer, bytes, stream);
}
template <class T>
inline cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaMemPool_t,
                                   cudaStream_t stream) {
    return cudaMallocAsync(pointer, bytes, stream);
}

inline cudaError_t cudaHostRegister(void*, std::size_t, unsigned) { return cudaSuccess; }
inline cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }
template <class T>
inline cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
    *device = static_cast<T*>(host);
    return cudaSuccess;
}
inline cudaError_t cudaMemPrefetchAsync(const void*, std::size_t, int, cudaStream_t = nullptr) {
    return cudaSuccess;
}

inline cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    *least = *greatest = 0;
    return cudaSuccess;
}
inline cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
    *can = 0;
    return cudaSuccess;
}
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
