// SPDX-License-Identifier: Apache-2.0
// Barriers, parts of warps and shared memory, where the order of threads matters.
#include <cuda_runtime.h>

#include "harness/simt/tests/launcher.hpp"

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
LAUNCHER(sum_by_tree) { tree_sum<<<1, call.block>>>(call.data, call.count); }

KERNEL(missing_barrier, 1, call.count) {
    __shared__ float staged[256];
    staged[threadIdx.x] = data[threadIdx.x];
    const int left = threadIdx.x > 0 ? threadIdx.x - 1 : 0;
    data[threadIdx.x] = staged[left];
}

// Threads beyond `count` leave before the barrier, as on hardware since sm_70 they may.
__global__ void early_exit(float* data, int count) {
    __shared__ float staged[256];
    if (threadIdx.x >= unsigned(count)) return;
    staged[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = staged[(threadIdx.x + 1) % count];
}
LAUNCHER(rotate_with_early_exit) { early_exit<<<1, call.block>>>(call.data, call.count); }

KERNEL(vote_with_exited_lanes, 1, 32) {
    if (threadIdx.x >= 20) return;
    const unsigned voted = __ballot_sync(0xffffffff, 1);
    data[threadIdx.x] = __popc(voted);
}

KERNEL(shuffle_in_halves, 1, 32) {
    if (threadIdx.x < 16) {
        data[threadIdx.x] = __shfl_sync(0x0000ffffu, int(threadIdx.x), 3);
    } else {
        data[threadIdx.x] = __shfl_sync(0xffff0000u, int(threadIdx.x), 19);
    }
}

// Lanes that take a branch add up as one: the count is right however they are grouped.
KERNEL(aggregate_active_lanes, 1, 96) {
    if (threadIdx.x % 3 == 0) {
        const unsigned active = __activemask();
        const unsigned rank = __popc(active & ((1u << (threadIdx.x % 32)) - 1));
        if (rank == 0) atomicAdd(&data[0], float(__popc(active)));
    } else {
        __syncwarp(__activemask());
    }
}

// Odd lanes vote while even lanes wait at the barrier and the other warp has left.
KERNEL(active_beside_a_barrier, 1, 64) {
    if (threadIdx.x >= 32) return;
    if (threadIdx.x % 2 == 1) data[threadIdx.x] = __popc(__activemask());
    __syncthreads();
}

// A log of who runs when, through everything that a schedule decides: starting, barriers with
// exited threads, collectives of whole and half warps, threads that give way. data[0] is the number
// of entries. No atomics: threads take turns at calls of the executor only.
__device__ void log_entry(float* data, int phase) {
    const int at = int(data[0]);
    data[0] = at + 1;
    data[at + 1] = (blockIdx.x * 1024 + threadIdx.x) * 8 + phase;
}

KERNEL(order_of_threads, 3, call.block) {
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

// A loop that makes a constant, and mentions a name that is volatile elsewhere.
constexpr int log2_of(int flag) {
    int log = 0;
    while (flag > 1) flag /= 2, ++log;
    return log;
}
static_assert(log2_of(8) == 3);

// Waits without atomics, of all spellings.
__device__ int look_again(const int* at) { return *reinterpret_cast<const volatile int*>(at); }
__global__ void wait_for_stores(float* data, int* flags) {
    volatile int* flag = flags;
    if (threadIdx.x > 0) {
        flag[threadIdx.x] = 1;
        return;
    }
    while (flag[1] == 0);
    while (look_again(flags + 2) == 0) continue;
    int seen;
    do {
        seen = *(volatile int*)(flags + 3);
    } while (seen == 0);
    for (;;)
        if (flag[4] != 0) break;
    data[0] = 1;
}
LAUNCHER(waits_for_stores) {
    int* flags = reinterpret_cast<int*>(call.data + 1);
    for (int i = 0; i < 5; ++i) flags[i] = 0;
    wait_for_stores<<<1, 5>>>(call.data, flags);
}

KERNEL(one_atomic_a_thread, 1, call.count) { atomicAdd(data, 1.0f); }

// More live values than there are registers, and of types that want aligned stacks.
__device__ __noinline__ double mixed(double a, float4 b, int c) {
    __syncthreads();
    return a + b.x + b.w + c;
}
KERNEL(values_across_barriers, 1, call.count) {
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

// Half of the threads wait for a barrier, the others for a warp that never completes.
#line 100 "barriers.cu"
__global__ void stuck() {
    if (threadIdx.x < 16) {
        __syncthreads();
    } else {
        __syncwarp();
    }
}
LAUNCHER(deadlock) { stuck<<<1, 32>>>(); }

KERNEL(uninitialised_shared, 1, 32, 128) {
    __shared__ float never_written[32];
    extern __shared__ float nor_this[];
    data[threadIdx.x] = threadIdx.x % 2 ? never_written[threadIdx.x] : nor_this[threadIdx.x];
}
