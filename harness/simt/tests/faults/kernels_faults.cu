// SPDX-License-Identifier: Apache-2.0
// Kernels that leave their memory or their stack. fault_test.cpp knows the lines.
#include <cuda_runtime.h>

#include "harness/simt/tests/launcher.hpp"

__device__ int deep(volatile int* frame, int depth) {
    volatile int own[1024];
    own[depth % 1024] = frame[depth % 1024] + depth;
    return depth == 0 ? own[0] : deep(own, depth - 1) + own[1];
}
__global__ void recurse(float* data) {
    volatile int first[1024] = {};
    data[0] = deep(first, 1000000);
}
LAUNCHER(overflow_the_stack) { recurse<<<1, 1>>>(call.data); }

// The accesses stay though nobody wants the value.
__device__ void read_at(const float* address) {
    const volatile float* kept = address;
    static_cast<void>(*kept);  // line 21
}
__device__ void write_at(float* address) {
    *address = 1;  // line 24
}

__global__ void read_element(const float* data, int i) { read_at(data + i); }
__global__ void write_element(float* data, int i) { write_at(data + i); }
LAUNCHER(read_float) { read_element<<<1, 1>>>(call.data, call.count); }
LAUNCHER(write_float) { write_element<<<1, 1>>>(call.data, call.count); }

__global__ void read_far(unsigned long long address) {
    read_at(reinterpret_cast<const float*>(address));
}
LAUNCHER(read_null) { read_far<<<1, 1>>>(0); }
LAUNCHER(read_field_of_null) { read_far<<<1, 1>>>(24); }
LAUNCHER(read_wild) { read_far<<<1, 1>>>(0x123456789000ull); }
LAUNCHER(read_beyond_all_memory) { read_far<<<1, 1>>>(1ull << 63); }

__global__ void add_at_null(float* data) {
    atomicAdd(data, 1.0f);  // line 41
}
LAUNCHER(atomic_at_null) { add_at_null<<<1, 1>>>(nullptr); }

__global__ void clear(char* data, int bytes) {
    for (int i = 0; i < bytes; ++i) data[i] = 0;  // line 46, which becomes a call of memset
}
LAUNCHER(clear_too_much) { clear<<<1, 1>>>(reinterpret_cast<char*>(call.data), call.count); }

__global__ void fault_behind_a_barrier(float* data, int count) {
    __shared__ float seen[64];
    seen[threadIdx.x] = 1;
    __syncthreads();
    if (blockIdx.x == 1 && threadIdx.x == 5) write_at(data + count);
    __syncthreads();
    if (threadIdx.x < count) data[threadIdx.x] = seen[(threadIdx.x + 1) % 64];
}
LAUNCHER(fault_behind_a_barrier) { fault_behind_a_barrier<<<3, 64>>>(call.data, call.count); }

__global__ void divide(int* data, int by) { data[0] = 7 / by; }  // line 60
LAUNCHER(divide_by_zero) { divide<<<1, 1>>>(reinterpret_cast<int*>(call.data), call.count); }

__global__ void read_dynamic(int i) {
    extern __shared__ float dynamic[];
    read_at(dynamic + i);
}
LAUNCHER(read_past_dynamic_shared) { read_dynamic<<<1, 1, 128>>>(32); }
