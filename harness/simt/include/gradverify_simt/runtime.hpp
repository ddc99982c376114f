// SPDX-License-Identifier: Apache-2.0
// The calls of the CUDA run-time API. They have C++ linkage, unlike CUDA's own, so that both can be
// linked into one process. Work on a stream is done at once; the library tracks what orders it.
#pragma once
#pragma GCC system_header

#include <cstddef>
#include <cstring>
#include <tuple>
#include <utility>

#include "gradverify_simt/launch.hpp"
#include "gradverify_simt/runtime_types.hpp"
#include "gradverify_simt/vector_types.hpp"

const char* cudaGetErrorString(cudaError_t error);
const char* cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes);

cudaError_t cudaMalloc(void** pointer, std::size_t bytes);
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream);
cudaError_t gradverify_simt_malloc_managed(void** pointer, std::size_t bytes);
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes, unsigned flags = 0);
cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaMemset(void* to, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream = nullptr);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to);

// What is always the same.
#define GRADVERIFY_SIMT_CONSTANT(NAME, VALUE) \
    inline cudaError_t NAME(int* constant) {  \
        *constant = VALUE;                    \
        return cudaSuccess;                   \
    }
GRADVERIFY_SIMT_CONSTANT(cudaGetDeviceCount, 1)
GRADVERIFY_SIMT_CONSTANT(cudaGetDevice, 0)
GRADVERIFY_SIMT_CONSTANT(cudaRuntimeGetVersion, CUDART_VERSION)
GRADVERIFY_SIMT_CONSTANT(cudaDriverGetVersion, CUDART_VERSION)
#undef GRADVERIFY_SIMT_CONSTANT

// The CPU device tells no kernel from another.
cudaError_t gradverify_simt_func_set_attribute(const void* function, cudaFuncAttribute attribute,
                                               int value);
cudaError_t gradverify_simt_func_get_attributes(cudaFuncAttributes* attributes);
cudaError_t gradverify_simt_occupancy(int* blocks, int block_size, std::size_t shared_bytes);

// Allocations by typed pointers. Their flags do not matter here.
#define GRADVERIFY_SIMT_ALLOCATION(NAME, CALL, ...)                                      \
    template <class T>                                                                   \
    inline cudaError_t NAME(T** pointer, std::size_t bytes __VA_OPT__(, ) __VA_ARGS__) { \
        return CALL(reinterpret_cast<void**>(pointer), bytes);                           \
    }
GRADVERIFY_SIMT_ALLOCATION(cudaMalloc, cudaMalloc)
GRADVERIFY_SIMT_ALLOCATION(cudaMallocManaged, gradverify_simt_malloc_managed, unsigned = 1)
GRADVERIFY_SIMT_ALLOCATION(cudaMallocHost, cudaMallocHost, unsigned = 0)
GRADVERIFY_SIMT_ALLOCATION(cudaHostAlloc, cudaMallocHost, unsigned)
#undef GRADVERIFY_SIMT_ALLOCATION

template <class T>
inline cudaError_t cudaMallocAsync(T** pointer, std::size_t bytes, cudaStream_t stream) {
    return cudaMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream);
}

inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
    return cudaStreamCreateWithFlags(stream, flags);
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

namespace gradverify::simt::unit {
/// While it lives, the host may use device memory, as a library's own code.
struct DeviceWork {
    DeviceWork() { gradverify_simt_begin_device_work(); }
    ~DeviceWork() { gradverify_simt_end_device_work(); }
    DeviceWork(const DeviceWork&) = delete;
    DeviceWork& operator=(const DeviceWork&) = delete;
};
}  // namespace gradverify::simt::unit

// `__device__` and `__constant__` variables are plain variables here.
inline cudaError_t cudaMemcpyToSymbol(auto& symbol, const void* from, std::size_t bytes,
                                      std::size_t offset = 0,
                                      cudaMemcpyKind = cudaMemcpyHostToDevice) {
    if (offset + bytes > sizeof symbol) return cudaErrorInvalidValue;
    const gradverify::simt::unit::DeviceWork from_device;
    std::memcpy(const_cast<char*>(reinterpret_cast<const char*>(&symbol)) + offset, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpyToSymbolAsync(auto& symbol, const void* from, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind kind,
                                           cudaStream_t = nullptr) {
    return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
inline cudaError_t cudaMemcpyFromSymbol(void* to, const auto& symbol, std::size_t bytes,
                                        std::size_t offset = 0,
                                        cudaMemcpyKind = cudaMemcpyDeviceToHost) {
    if (offset + bytes > sizeof symbol) return cudaErrorInvalidValue;
    const gradverify::simt::unit::DeviceWork to_device;
    std::memcpy(to, reinterpret_cast<const char*>(&symbol) + offset, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpyFromSymbolAsync(void* to, const auto& symbol, std::size_t bytes,
                                             std::size_t offset, cudaMemcpyKind kind,
                                             cudaStream_t = nullptr) {
    return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}
inline cudaError_t cudaGetSymbolAddress(void** address, const auto& symbol) {
    *address = const_cast<void*>(static_cast<const void*>(&symbol));
    gradverify::simt::unit::gradverify_simt_lend(*address, sizeof symbol);
    return cudaSuccess;
}
inline cudaError_t cudaGetSymbolSize(std::size_t* bytes, const auto& symbol) {
    *bytes = sizeof symbol;
    return cudaSuccess;
}

inline cudaError_t cudaFuncSetAttribute(auto* function, cudaFuncAttribute attribute, int value) {
    return gradverify_simt_func_set_attribute(reinterpret_cast<const void*>(function), attribute,
                                              value);
}
inline cudaError_t cudaFuncSetCacheConfig(auto*, cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaFuncSetSharedMemConfig(auto*, cudaSharedMemConfig) { return cudaSuccess; }
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, auto*) {
    return gradverify_simt_func_get_attributes(attributes);
}
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, auto, int block_size,
                                                                 std::size_t shared_bytes) {
    return gradverify_simt_occupancy(blocks, block_size, shared_bytes);
}
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, auto,
                                                                          int block_size,
                                                                          std::size_t shared_bytes,
                                                                          unsigned) {
    return gradverify_simt_occupancy(blocks, block_size, shared_bytes);
}
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid_size, int* block_size, auto,
                                                      std::size_t = 0, int block_limit = 0) {
    *block_size = block_limit > 0 && block_limit < 1024 ? block_limit : 1024;
    int blocks = 0;
    const cudaError_t error = gradverify_simt_occupancy(&blocks, *block_size, 0);
    int processors = 0;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    *min_grid_size = blocks * processors;
    return error;
}
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* min_grid_size,
                                                                  int* block_size, auto function,
                                                                  auto, int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSize(min_grid_size, block_size, function, 0, limit);
}

// Rows with a pitch, registered host memory, hints. All memory can be reached from everywhere.
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

template <class T>
inline cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
    *device = static_cast<T*>(host);
    return cudaSuccess;
}
inline cudaError_t cudaMemAdvise(const void*, std::size_t, cudaMemoryAdvise, int) {
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
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
