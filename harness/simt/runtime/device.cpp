// SPDX-License-Identifier: Apache-2.0
// What the CPU device says of itself through the CUDA run-time API: a small GPU of compute
// capability 9.0, the only device, with the limits of device_limits.hpp.
#include <algorithm>
#include <cstdio>

#include "gradverify_simt/runtime.hpp"
#include "harness/simt/runtime/buffers.hpp"
#include "harness/simt/runtime/device_limits.hpp"
#include "harness/simt/runtime/errors.hpp"
#include "harness/simt/runtime/mapping.hpp"

namespace gs = gradverify::simt;

std::size_t& gs::dynamic_shared_limit() {
    static std::size_t limit = shared_default_bytes;
    return limit;
}

namespace {

constexpr int shared_opt_in = static_cast<int>(gs::shared_opt_in_bytes);

cudaError_t refuse(cudaError_t error, const char* text) {
    gs::OfCall<gs::Errors>()->fail(error, text);
    return error;
}

}  // namespace

cudaError_t cudaSetDevice(int device) {
    return device == 0 ? cudaSuccess
                       : refuse(cudaErrorInvalidDevice, "cudaSetDevice: the only device is 0");
}
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
    *free_bytes = *total_bytes = gs::device_memory_bytes;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    if (device != 0) {
        return refuse(cudaErrorInvalidDevice, "cudaGetDeviceProperties: the only device is 0");
    }
    *properties = {};
    std::snprintf(properties->name, sizeof properties->name, "gradverify CPU device");
    properties->totalGlobalMem = gs::device_memory_bytes;
    properties->sharedMemPerBlock = gs::shared_default_bytes;
    properties->totalConstMem = 65536;
    properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
    properties->warpSize = gs::warp_lanes;
    properties->maxThreadsPerBlock = gs::max_block_threads;
    properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = gs::max_block_threads;
    properties->maxThreadsDim[2] = gs::max_block_z;
    properties->maxGridSize[0] = gs::max_grid_x;
    properties->maxGridSize[1] = properties->maxGridSize[2] = gs::max_grid_y_z;
    properties->clockRate = properties->memoryClockRate = 1000000;
    properties->memoryBusWidth = 64;
    properties->l2CacheSize = 1 << 20;
    properties->major = 9;
    properties->multiProcessorCount = gs::multiprocessors;
    properties->maxThreadsPerMultiProcessor = gs::threads_per_multiprocessor;
    properties->maxBlocksPerMultiProcessor = gs::blocks_per_multiprocessor;
    properties->sharedMemPerMultiprocessor = gs::shared_opt_in_bytes + 1024;
    properties->sharedMemPerBlockOptin = gs::shared_opt_in_bytes;
    properties->cooperativeLaunch = 1;
    properties->unifiedAddressing = properties->managedMemory = 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    cudaDeviceProp properties;
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error != cudaSuccess) return error;
    switch (attribute) {
#define GRADVERIFY_SIMT_CASE(NAME, NUMBER, FIELD)    \
    case NAME:                                       \
        *value = static_cast<int>(properties.FIELD); \
        return cudaSuccess;
        GRADVERIFY_SIMT_ATTRIBUTES(GRADVERIFY_SIMT_CASE)
#undef GRADVERIFY_SIMT_CASE
    }
    return refuse(cudaErrorInvalidValue,
                  "cudaDeviceGetAttribute: an attribute that the CPU device lacks");
}

// A raised limit holds for all kernels of the OS thread, as a launch does not tell its kernel.
cudaError_t gradverify_simt_func_set_attribute(const void* function, cudaFuncAttribute attribute,
                                               int value) {
    if (function == nullptr) {
        return refuse(cudaErrorInvalidDeviceFunction, "cudaFuncSetAttribute: no function");
    }
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || value > shared_opt_in) {
        gs::OfCall<gs::Errors>()->fail(
            cudaErrorInvalidValue,
            "cudaFuncSetAttribute: dynamic shared memory of 0 to 232448 bytes", true);
        return cudaErrorInvalidValue;
    }
    std::size_t& limit = gs::dynamic_shared_limit();
    limit = std::max(limit, static_cast<std::size_t>(value));
    return cudaSuccess;
}

cudaError_t gradverify_simt_func_get_attributes(cudaFuncAttributes* attributes) {
    *attributes = {};
    attributes->maxThreadsPerBlock = gs::max_block_threads;
    attributes->numRegs = 32;
    attributes->ptxVersion = attributes->binaryVersion = 90;
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(gs::dynamic_shared_limit());
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    const std::uintptr_t at = gs::number(pointer);
    const bool is_device = gs::find_device_memory(at, at + 1).bytes > 0;
    auto* address = const_cast<void*>(pointer);
    *attributes = {is_device ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered, 0,
                   is_device ? address : nullptr, is_device ? nullptr : address};
    return cudaSuccess;
}

cudaError_t gradverify_simt_occupancy(int* blocks, int block_size, std::size_t shared_bytes) {
    if (block_size <= 0) {
        return refuse(cudaErrorInvalidValue, "occupancy: a block of no threads");
    }
    *blocks = gs::blocks_per_multiprocessor_of(block_size, shared_bytes);
    return cudaSuccess;
}
