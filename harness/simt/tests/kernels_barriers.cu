// SPDX-License-Identifier: Apache-2.0
// Barriers and shared memory, as ordinary CUDA code writes them.
#include <cuda_runtime.h>

#include "harness/simt/tests/launcher.hpp"

template <class T, int Size>
__global__ void reverse_static(T* data, int count) {
    __shared__ T staged[Size];
    const int i = threadIdx.x;
    if (i < count) staged[i] = data[i];
    __syncthreads();
    if (i < count) data[i] = staged[count - 1 - i];
}
GRADVERIFY_SIMT_TEST_LAUNCHER(reverse_in_static_shared) {
    reverse_static<float, 256><<<1, call.block>>>(call.data, call.count);
}

__global__ void reverse_dynamic(float* data, int count) {
    extern __shared__ __align__(16) float staged[];
    const int i = threadIdx.x;
    staged[i] = data[i];
    __syncthreads();
    data[i] = staged[count - 1 - i];
}
GRADVERIFY_SIMT_TEST_LAUNCHER(reverse_in_dynamic_shared) {
    reverse_dynamic<<<1, call.count, call.count * sizeof(float), 0>>>(call.data, call.count);
}

extern __shared__ float file_scope_shared[];
__global__ void reverse_file_scope(float* data, int count) {
    file_scope_shared[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    const float* staged = file_scope_shared;
    data[threadIdx.x] = staged[count - 1 - threadIdx.x];
}
GRADVERIFY_SIMT_TEST_LAUNCHER(reverse_in_file_scope_shared) {
    reverse_file_scope<<<1, call.count, call.count * sizeof(float)>>>(call.data, call.count);
}

// Several declarators, pointers to arrays, and a union, in one block.
__global__ void many_shared(float* data) {
    __shared__ float row[32], column[32];
    __shared__ __align__(128) double wide[4];
    __shared__ union {
        int as_int;
        float as_float;
    } both;
    __shared__ volatile int flag;
    const int i = threadIdx.x;
    row[i] = i;
    column[i] = 100 * i;
    if (i == 0) {
        both.as_float = 0.5f;
        flag = 7;
        wide[3] = 1000;
    }
    __syncthreads();
    const bool aligned = reinterpret_cast<unsigned long long>(wide) % 128 == 0;
    data[i] = aligned ? row[31 - i] + column[i] + both.as_float + flag + float(wide[3]) : -1;
}
GRADVERIFY_SIMT_TEST_LAUNCHER(many_shared_variables) { many_shared<<<1, 32>>>(call.data); }

// A tree reduction over a block, every thread at each barrier.
__global__ void tree_sum(float* data, int count) {
    __shared__ float partial[1024];
    const unsigned i = threadIdx.x;
    partial[i] = i < unsigned(count) ? data[i] : 0;
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
        if (i < step) partial[i] += partial[i + step];
        __syncthreads();
    }
    if (i == 0) data[0] = partial[0];
}
GRADVERIFY_SIMT_TEST_LAUNCHER(sum_by_tree) { tree_sum<<<1, call.block>>>(call.data, call.count); }

// The same, with the barrier between the store and the first read forgotten.
__global__ void neighbour_without_barrier(float* data) {
    __shared__ float staged[256];
    staged[threadIdx.x] = data[threadIdx.x];
    const int left = threadIdx.x > 0 ? threadIdx.x - 1 : 0;
    data[threadIdx.x] = staged[left];
}
GRADVERIFY_SIMT_TEST_LAUNCHER(missing_barrier) {
    neighbour_without_barrier<<<1, call.count>>>(call.data);
}

// Threads beyond `count` leave before the barrier, as on hardware since sm_70 they may.
__global__ void early_exit(float* data, int count) {
    __shared__ float staged[256];
    if (threadIdx.x >= unsigned(count)) return;
    staged[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = staged[(threadIdx.x + 1) % count];
}
GRADVERIFY_SIMT_TEST_LAUNCHER(rotate_with_early_exit) {
    early_exit<<<1, call.block>>>(call.data, call.count);
}

__global__ void votes(float* data) {
    const int i = threadIdx.x;
    const int odd = __syncthreads_count(i % 2);
    const int all = __syncthreads_and(i >= 0);
    const int any = __syncthreads_or(i > 1000);
    data[i] = odd * 100 + all * 10 + any;
}
GRADVERIFY_SIMT_TEST_LAUNCHER(barrier_votes) { votes<<<1, call.block>>>(call.data); }

// Half of the threads wait for a barrier, the others for a warp that never completes.
#line 100 "barriers.cu"
__global__ void stuck() {
    if (threadIdx.x < 16) {
        __syncthreads();
    } else {
        __syncwarp();
    }
}
GRADVERIFY_SIMT_TEST_LAUNCHER(deadlock) { stuck<<<1, 32>>>(); }

__global__ void read_unwritten(float* data) {
    __shared__ float never_written[32];
    extern __shared__ float nor_this[];
    data[threadIdx.x] = threadIdx.x % 2 ? never_written[threadIdx.x] : nor_this[threadIdx.x];
}
GRADVERIFY_SIMT_TEST_LAUNCHER(uninitialised_shared) { read_unwritten<<<1, 32, 128>>>(call.data); }
