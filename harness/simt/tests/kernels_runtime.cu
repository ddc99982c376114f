// SPDX-License-Identifier: Apache-2.0
// Device asserts, inline PTX, and launches that are refused.
#include <cassert>
#include <stdexcept>

#include <cuda_runtime.h>

#include "harness/simt/tests/launcher.hpp"

__global__ void twice(float* data, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] *= 2.0f;
}
LAUNCHER(twice_each) { twice<<<(call.count + 63) / 64, 64>>>(call.data, call.count); }

#line 100 "runtime.cu"
__global__ void check_value(const float* data) { assert(data[threadIdx.x] < 3.0f); }
LAUNCHER(device_assert) { check_value<<<1, call.count>>>(call.data); }

__global__ void with_ptx(unsigned* out) {
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    *out = lane;
}
LAUNCHER(inline_ptx) { with_ptx<<<1, 1>>>(reinterpret_cast<unsigned*>(call.data)); }

__global__ void nothing() {}
LAUNCHER(block_too_large) { nothing<<<1, 1025>>>(); }
LAUNCHER(block_too_deep) { nothing<<<1, dim3(1, 1, 65)>>>(); }
LAUNCHER(grid_of_zero) { nothing<<<0, 32>>>(); }
LAUNCHER(grid_too_high) { nothing<<<dim3(1, 65536), 32>>>(); }
LAUNCHER(grid_too_wide) { nothing<<<0x80000000u, 32>>>(); }
// Equal on both devices with the runtime of CUDA 13.
LAUNCHER(last_error_after_refusal) {
    nothing<<<1, 1025>>>();
    const cudaError_t peeked = cudaPeekAtLastError(), got = cudaGetLastError();
    if (peeked != cudaErrorInvalidValue || got != peeked || cudaGetLastError() != cudaSuccess) {
        throw std::runtime_error(cudaGetErrorString(got));
    }
}
LAUNCHER(too_much_shared) { nothing<<<1, 1, 49153>>>(); }
LAUNCHER(too_much_shared_asked) {
    const cudaError_t error =
        cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449);
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}
