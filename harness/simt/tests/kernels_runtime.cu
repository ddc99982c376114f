// SPDX-License-Identifier: Apache-2.0
// Launches as host code writes them, symbols, device asserts, traps, and the run-time API.
#include <cassert>
#include <cstdio>
#include <stdexcept>

#include <cuda_runtime.h>

#include "harness/simt/tests/launcher.hpp"

#define CHECK(CALL)                                                                                \
    do {                                                                                           \
        const cudaError_t check_error = (CALL);                                                    \
        if (check_error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(check_error)); \
    } while (0)
#define LAUNCH_1D(KERNEL, COUNT, ...) KERNEL<<<((COUNT) + 63) / 64, 64>>>(__VA_ARGS__, COUNT)

template <class T>
__global__ void scale(T* data, T factor, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] *= factor;
}
GRADVERIFY_SIMT_TEST_LAUNCHER(launch_by_macro) {
    LAUNCH_1D(scale<float>, call.count, call.data, 2.0f);
}

// Deduced arguments, a kernel pointer, an argument with a side effect, and NULL for a pointer.
__global__ void add(float* data, const float* other, int step) {
    data[threadIdx.x] += step + (other ? other[threadIdx.x] : 0.0f);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(launch_variously) {
    scale<<<dim3(1), dim3(call.count)>>>(call.data, 3.0f, call.count);
    void (*kernel)(float*, const float*, int) = add;
    int step = 1;
    (*kernel)<<<1, call.count>>>(call.data, NULL, step++);
    kernel<<<1, call.count>>>(call.data, 0, step++);
    if (step == 3) ::add<<<1, call.count>>>(call.data, nullptr, step);
    void* arguments[] = {(void*)&call.data, (void*)&call.data, &step};
    CHECK(cudaLaunchKernel(add, dim3(1), dim3(call.count), arguments, 0, 0));
}

__constant__ float coefficients[2];
__device__ int launches_seen;
__global__ void polynomial(float* data, int count) {
    const int i = threadIdx.x;
    if (i < count) data[i] = coefficients[0] + coefficients[1] * data[i];
    if (i == 0) ++launches_seen;
}
GRADVERIFY_SIMT_TEST_LAUNCHER(constant_memory) {
    const float host[2] = {1.0f, 10.0f};
    CHECK(cudaMemcpyToSymbol(coefficients, host, sizeof host));
    const int none = 0;
    CHECK(cudaMemcpyToSymbol(launches_seen, &none, sizeof none));
    polynomial<<<1, call.count>>>(call.data, call.count);
    int seen = 0;
    CHECK(cudaMemcpyFromSymbol(&seen, launches_seen, sizeof seen));
    if (seen != 1) throw std::runtime_error("the __device__ variable was not counted up");
}

__global__ void geometry(float* data) {
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    data[block * threads + thread] = float(block * threads + thread);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(three_dimensions) {
    geometry<<<dim3(2, 3, 2), dim3(3, 2, 4)>>>(call.data);
}

#line 100 "runtime.cu"
__global__ void check_value(const float* data) { assert(data[threadIdx.x] < 3.0f); }
GRADVERIFY_SIMT_TEST_LAUNCHER(device_assert) { check_value<<<1, call.count>>>(call.data); }

__global__ void with_ptx(unsigned* out) {
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    *out = lane;
}
GRADVERIFY_SIMT_TEST_LAUNCHER(inline_ptx) {
    with_ptx<<<1, 1>>>(reinterpret_cast<unsigned*>(call.data));
}

__global__ void nothing() {}
__global__ void first_value(float* data) { data[0] = 1; }
GRADVERIFY_SIMT_TEST_LAUNCHER(block_too_large) { nothing<<<1, 1025>>>(); }
GRADVERIFY_SIMT_TEST_LAUNCHER(block_too_deep) { nothing<<<1, dim3(1, 1, 65)>>>(); }
GRADVERIFY_SIMT_TEST_LAUNCHER(grid_of_zero) { nothing<<<0, 32>>>(); }
GRADVERIFY_SIMT_TEST_LAUNCHER(grid_too_high) { nothing<<<dim3(1, 65536), 32>>>(); }
GRADVERIFY_SIMT_TEST_LAUNCHER(grid_too_wide) { nothing<<<0x80000000u, 32>>>(); }
// Equal on both devices with the runtime of CUDA 13.
GRADVERIFY_SIMT_TEST_LAUNCHER(last_error_after_refusal) {
    nothing<<<1, 1025>>>();
    const cudaError_t peeked = cudaPeekAtLastError(), got = cudaGetLastError();
    if (peeked != cudaErrorInvalidValue || got != peeked || cudaGetLastError() != cudaSuccess) {
        throw std::runtime_error(cudaGetErrorString(got));
    }
}
GRADVERIFY_SIMT_TEST_LAUNCHER(too_much_shared) { first_value<<<1, 1, 49153>>>(call.data); }
GRADVERIFY_SIMT_TEST_LAUNCHER(much_shared_allowed) {
    CHECK(cudaFuncSetAttribute(first_value, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    first_value<<<1, 1, 100000>>>(call.data);
    CHECK(cudaGetLastError());
}
GRADVERIFY_SIMT_TEST_LAUNCHER(too_much_shared_asked) {
    CHECK(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449));
}
GRADVERIFY_SIMT_TEST_LAUNCHER(throw_from_launcher) { throw std::runtime_error("thrown in a unit"); }

GRADVERIFY_SIMT_TEST_LAUNCHER(runtime_calls) {
    int device = -1, processors = 0, blocks = 0, grid = 0, block = 0;
    cudaDeviceProp properties;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaGetDeviceProperties(&properties, device));
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 256, 0));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing, 0, 0));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start, stream));
    float* copy = nullptr;
    CHECK(cudaMallocAsync(&copy, call.count * sizeof(float), stream));
    CHECK(cudaMemcpyAsync(copy, call.data, call.count * sizeof(float), cudaMemcpyDeviceToDevice,
                          stream));
    CHECK(cudaMemsetAsync(call.data, 0, call.count * sizeof(float), stream));
    add<<<1, call.count, 0, stream>>>(call.data, copy, 1);
    CHECK(cudaEventRecord(stop, stream));
    CHECK(cudaStreamSynchronize(stream));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    CHECK(cudaFreeAsync(copy, stream));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaDeviceSynchronize());
    if (properties.warpSize != 32 || processors != properties.multiProcessorCount || blocks < 1 ||
        block < 32 || grid < 1 || milliseconds < 0) {
        throw std::runtime_error("the device describes itself wrongly");
    }
}
