// SPDX-License-Identifier: Apache-2.0
// Errors: device asserts, inline PTX, launches that are refused, what the cpu device does not
// serve, and what a cooperative launch must not do.
#include <cassert>
#include <stdexcept>

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "harness/simt/tests/launcher.hpp"

namespace cg = cooperative_groups;

__global__ void twice(float* data, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] *= 2.0f;
}
LAUNCHER(twice_each) { twice<<<(call.count + 63) / 64, 64>>>(call.data, call.count); }

#line 100 "runtime.cu"
__global__ void check_value(const float* data) { assert(data[threadIdx.x] < 3.0f); }
LAUNCHER(device_assert) { check_value<<<1, call.count>>>(call.data); }

__global__ void with_ptx(unsigned* out) {
    unsigned sum = 1;
    asm volatile("vadd.u32.u32.u32 %0, %0, %0;" : "+r"(sum));
    *out = sum;
}
LAUNCHER(inline_ptx) { with_ptx<<<1, 1>>>(reinterpret_cast<unsigned*>(call.data)); }

__global__ void nothing() {}
LAUNCHER(block_too_large) { nothing<<<1, 1025>>>(); }
LAUNCHER(block_too_deep) { nothing<<<1, dim3(1, 1, 65)>>>(); }
LAUNCHER(grid_of_zero) { nothing<<<0, 32>>>(); }
LAUNCHER(grid_too_high) { nothing<<<dim3(1, 65536), 32>>>(); }
LAUNCHER(grid_too_wide) { nothing<<<0x80000000u, 32>>>(); }
LAUNCHER(last_error_after_refusal) {
    nothing<<<1, 1025>>>();
    const cudaError_t peeked = cudaPeekAtLastError(), got = cudaGetLastError();
    if (peeked != cudaErrorInvalidConfiguration || got != peeked ||
        cudaGetLastError() != cudaSuccess) {
        throw std::runtime_error(cudaGetErrorString(got));
    }
}
LAUNCHER(too_much_shared) { nothing<<<1, 1, 49153>>>(); }
LAUNCHER(too_much_shared_asked) {
    const cudaError_t error =
        cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449);
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}
LAUNCHER(does_without_too_much_shared) {
    if (cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449) !=
        cudaSuccess) {
        cudaGetLastError();
        nothing<<<1, 1>>>();
    }
}
LAUNCHER(too_much_shared_then_too_many_threads) {
    cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449);
    nothing<<<1, 1025>>>();
    cudaGetLastError();
}

__global__ void fetch(float* data, cudaTextureObject_t texture) {
#line 101 "served.cu"
    data[threadIdx.x] = tex1Dfetch<float>(texture, int(threadIdx.x));
}
LAUNCHER(texture_fetch) { fetch<<<1, 32>>>(call.data, 0); }
LAUNCHER(texture_object) {
    cudaTextureObject_t texture = 0;
    cudaResourceDesc resource = {};
    cudaTextureDesc description = {};
#line 108 "served.cu"
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
}
LAUNCHER(graph) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
#line 113 "served.cu"
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaStreamDestroy(stream);
}
__global__ void child(float* data) { data[0] = 1; }
#ifndef __NVCC__  // which wants -rdc=true
__global__ void parent(float* data) {
#line 131 "served.cu"
    child<<<1, 1>>>(data);
}
LAUNCHER(launch_in_kernel) { parent<<<1, 1>>>(call.data); }
#endif
LAUNCHER(untyped_kernel) {
    void* kernel = (void*)child;
    float* data = call.data;
    void* arguments[] = {&data};
#line 148 "served.cu"
    cudaLaunchKernel(kernel, 1, 1, arguments, 0, 0);
}

__global__ void grid_sync(float* data, int leaving) {
    if (int(blockIdx.x) < leaving) return;
#line 162 "served.cu"
    cg::this_grid().sync();
    data[0] = 1;
}
LAUNCHER(grid_sync_in_plain_launch) { grid_sync<<<2, 32>>>(call.data, 0); }
static void launch_cooperatively(const simt_test::Call& call, int blocks, int leaving) {
    float* data = call.data;
    void* arguments[] = {&data, &leaving};
    cudaLaunchCooperativeKernel((void*)grid_sync, blocks, 32, arguments, 0, 0);
}
LAUNCHER(grid_too_large) { launch_cooperatively(call, 129, 0); }
LAUNCHER(grid_that_some_leave) { launch_cooperatively(call, 5, 2); }
LAUNCHER(grid_that_fits) { launch_cooperatively(call, 128, 0); }
// The first of the values is 0.
__global__ void wait_for_last(float* data) {
    auto* flag = reinterpret_cast<unsigned*>(data);
    if (blockIdx.x == gridDim.x - 1) atomicExch(flag, 1u);
    while (atomicAdd(flag, 0u) == 0) __nanosleep(100);
    data[1] = 1;
}
LAUNCHER(spin_for_another_block) { wait_for_last<<<2, 1>>>(call.data); }

#line 300 "spaces.cu"
__global__ void store_to_space(unsigned* out, int space) {
    __shared__ unsigned own;
    own = 0;
    if (space == 0) asm volatile("st.shared.u32 [%0], 7;" ::"l"(out) : "memory");
    if (space == 1) asm volatile("st.shared.u32 [%0], 7;" ::"l"(&own) : "memory");
    if (space == 2) asm volatile("st.global.u32 [%0], 7;" ::"l"(&own) : "memory");
    *out = own;
}
LAUNCHER(ptx_shared_of_global) { store_to_space<<<1, 1>>>((unsigned*)call.data, 0); }
LAUNCHER(ptx_shared_by_pointer) { store_to_space<<<1, 1>>>((unsigned*)call.data, 1); }
LAUNCHER(ptx_global_of_shared) { store_to_space<<<1, 1>>>((unsigned*)call.data, 2); }
__global__ void load_matrix(unsigned* out, int skew) {
    __shared__ alignas(16) unsigned char rows[8 * 32];
    const auto row = unsigned(__cvta_generic_to_shared(rows)) + threadIdx.x % 8 * 32 + skew;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(out[threadIdx.x])
                 : "r"(row));
}
LAUNCHER(ptx_matrix_rows) {
    cudaMemset(call.data, 0, 128);
    load_matrix<<<1, 32>>>((unsigned*)call.data, 8);
}
