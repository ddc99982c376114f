// SPDX-License-Identifier: Apache-2.0
// A kernel that logs who runs when, through everything that a schedule decides: starting, barriers
// with exited threads, collectives of whole and half warps, threads that give way.
#include <cuda_runtime.h>

#include "harness/simt/tests/launcher.hpp"

// data[0] is the number of entries. No atomics: threads take turns at calls of the executor only.
__device__ void log_entry(float* data, int phase) {
    const int at = int(data[0]);
    data[0] = at + 1;
    data[at + 1] = (blockIdx.x * 1024 + threadIdx.x) * 8 + phase;
}

__global__ void log_order(float* data) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    log_entry(data, 0);
    if (threadIdx.x % 7 == 3) return;
    __syncthreads();
    log_entry(data, 1);
    if (warp % 2 == 0) __shfl_xor_sync(0xffffffff, lane, 1);
    log_entry(data, 2);
    __syncthreads_count(lane > 3);
    log_entry(data, 3);
    __nanosleep(1);
    __nanosleep(1);
    log_entry(data, 4);
    __syncwarp(lane < 16 ? 0xffff : 0xffff0000);
    log_entry(data, 5);
    if (threadIdx.x % 5 == 0) return;
    if (lane % 2 == 0) __activemask();
    log_entry(data, 6);
    __syncthreads();
    log_entry(data, 7);
}
LAUNCHER(order_of_threads) { log_order<<<3, call.block>>>(call.data); }

// How often thread 0 looks before thread 1 has set the flag: where a spinning thread gives way.
__global__ void count_spins(float* data, int* flag) {
    if (threadIdx.x == 0) {
        int spins = 0;
        while (atomicAdd(flag, 0) == 0) ++spins;
        data[0] = spins;
    } else {
        atomicExch(flag, 1);
    }
}
LAUNCHER(spins_of_a_thread) {
    int* flag = reinterpret_cast<int*>(call.data + 1);
    *flag = 0;
    count_spins<<<1, 2>>>(call.data, flag);
}

__global__ void count_threads(float* data) { atomicAdd(data, 1.0f); }
LAUNCHER(one_atomic_a_thread) { count_threads<<<1, call.count>>>(call.data); }

// More live values than there are registers, and of types that want aligned stacks.
__device__ __noinline__ double mixed(double a, float4 b, int c) {
    __syncthreads();
    return a + b.x + b.w + c;
}
__global__ void keep_values(float* data) {
    const int i = threadIdx.x;
    double real[16];
    int whole[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        real[k] = data[i] + k * 0.5;
        whole[k] = i * (k + 1);
    }
    double sum = 0;
    for (int round = 0; round < 3; ++round) {
        __syncthreads();
        sum += mixed(real[round], make_float4(i, 0, 0, 1), whole[round]);
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            real[k] += __shfl_sync(0xffffffff, i, i % 32);
            whole[k] -= i;
        }
    }
#pragma unroll
    for (int k = 0; k < 16; ++k) sum += real[k] + whole[k];
    data[i] = float(sum);
}
LAUNCHER(values_across_barriers) { keep_values<<<1, call.count>>>(call.data); }
