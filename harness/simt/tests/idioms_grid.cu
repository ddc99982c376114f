// SPDX-License-Identifier: Apache-2.0
// Correct kernels that work by warps and groups, or across blocks; see idioms_block.cu.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include "harness/simt/tests/launcher.hpp"

namespace cg = cooperative_groups;

// 15. The last block to finish adds up what the others have left, behind a fence and a ticket.
__device__ unsigned tickets = 0;
template <bool each_thread_fences>
__global__ void last_block(const float* data, float* partial, int count) {
    __shared__ float sums[64];
    __shared__ bool is_last;
    const unsigned i = threadIdx.x;
    float sum = 0.0f;
    for (int at = blockIdx.x * blockDim.x + i; at < count; at += gridDim.x * blockDim.x)
        sum += data[at];
    sums[i] = sum;
    __syncthreads();
    for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
        if (i < step) sums[i] += sums[i + step];
        __syncthreads();
    }
    // Who stores is not who takes the ticket, unless that thread alone fences.
    if (i == (each_thread_fences ? blockDim.x - 1 : 0)) partial[blockIdx.x] = sums[0];
    if (each_thread_fences) {
        __threadfence();
        __syncthreads();
    }
    if (i == 0) {
        if (!each_thread_fences) __threadfence();
        is_last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    if (i == 0) {
        float total = 0.0f;
        for (unsigned block = 0; block < gridDim.x; ++block) total += partial[block];
        partial[gridDim.x] = total;
    }
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_last_block) {
    float* partial = nullptr;
    cudaMalloc(&partial, 8 * sizeof(float));
    last_block<false><<<7, 64>>>(call.data, partial, 200);
    cudaMemcpy(call.data, partial + 7, sizeof(float), cudaMemcpyDeviceToDevice);
    last_block<true><<<7, 64>>>(call.data, partial, 200);
    cudaMemcpy(call.data + 1, partial + 7, sizeof(float), cudaMemcpyDeviceToDevice);
    cudaFree(partial);
}

// 16. Blocks, tiles and reductions of cooperative groups.
__global__ void groups(float* data) {
    __shared__ float of_tile[8];
    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<16>(block);
    const float sum = cg::reduce(tile, data[block.thread_rank()], cg::plus<float>());
    if (tile.thread_rank() == 0) of_tile[tile.meta_group_rank()] = sum;
    block.sync();
    float total = 0.0f;
    for (unsigned i = 0; i < tile.meta_group_size(); ++i) total += of_tile[i];
    cg::sync(block);
    data[block.thread_rank()] = total;
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_cooperative_groups) { groups<<<1, 128>>>(call.data); }

// 17. A warp's sum through shared memory, with a __syncwarp for each step.
__global__ void warp_sums(float* data) {
    __shared__ float values[96];
    const unsigned i = threadIdx.x, lane = i % 32;
    values[i] = data[i];
    __syncwarp();
    for (unsigned step = 16; step > 0; step /= 2) {
        if (lane < step) values[i] += values[i + step];
        __syncwarp();
    }
    data[i] = values[i - lane];
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_syncwarp_sum) { warp_sums<<<1, 96>>>(call.data); }

// 18. The same with volatile shared memory, and the read kept apart from the write.
__global__ void volatile_sum(float* data) {
    __shared__ volatile float values[64];
    const unsigned i = threadIdx.x;
    values[i] = data[i];
    values[i + 32] = 0.0f;
    __syncwarp();
    for (int step = 16; step > 0; step /= 2) {
        const float other = values[i + step];
        __syncwarp();
        values[i] = values[i] + other;
        __syncwarp();
    }
    data[i] = values[0];
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_volatile_with_syncwarp) { volatile_sum<<<1, 32>>>(call.data); }

// 19. Shuffles among the lanes that have work; what comes from beyond is discarded.
__global__ void partial_masks(float* data, int count) {
    const unsigned i = threadIdx.x;
    const unsigned mask = __ballot_sync(0xffffffffu, i < unsigned(count));
    if (i >= unsigned(count)) return;
    float sum = data[i];
    for (int step = 1; step < 32; step *= 2) {
        const float other = __shfl_up_sync(mask, sum, step);
        if (i % 32 >= unsigned(step)) sum += other;
    }
    const float next = __shfl_down_sync(mask, sum, 1);
    data[i] = i + 1 < unsigned(count) && i % 32 != 31 ? next - sum : sum;
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_partial_masks) { partial_masks<<<1, 64>>>(call.data, 41); }

// 20. Atomics aggregated over a warp: one for each distinct key, and one for all that are active.
__global__ void aggregated(const float* data, int* counts, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int key = static_cast<int>(data[i]) % 3;
    const unsigned active = __activemask();
    const unsigned peers = __match_any_sync(active, key);
    if (static_cast<int>(threadIdx.x % 32) == __ffs(static_cast<int>(peers)) - 1)
        atomicAdd(&counts[key], __popc(peers));
    if (key == 1) {
        const cg::coalesced_group group = cg::coalesced_threads();
        if (group.thread_rank() == 0) atomicAdd(&counts[3], static_cast<int>(group.size()));
    }
}
__global__ void from_ints(const int* from, float* to) { to[threadIdx.x] = from[threadIdx.x]; }
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_warp_aggregated_atomics) {
    int* counts = nullptr;
    cudaMalloc(&counts, 4 * sizeof(int));
    cudaMemset(counts, 0, 4 * sizeof(int));
    aggregated<<<3, 64>>>(call.data, counts, 150);
    from_ints<<<1, 4>>>(counts, call.data);
    cudaFree(counts);
}

// 21. Persistent blocks that take their work from an atomic counter.
__global__ void persistent(float* data, int* next, int count) {
    __shared__ int item;
    for (;;) {
        if (threadIdx.x == 0) item = atomicAdd(next, 1);
        __syncthreads();
        const int mine = item;
        __syncthreads();
        if (mine >= count) break;
        data[mine * 8 + threadIdx.x] += 1.0f;
    }
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_persistent_blocks) {
    int* next = nullptr;
    cudaMalloc(&next, sizeof(int));
    cudaMemset(next, 0, sizeof(int));
    persistent<<<3, 8>>>(call.data, next, 12);
    cudaFree(next);
}

// 22. Blocks that hand a running sum on, by flags and fences; each takes its number from a ticket.
__device__ unsigned next_block = 0;
__global__ void look_back(float* data, float* sums, volatile int* flags) {
    __shared__ unsigned block;
    __shared__ float before;
    if (threadIdx.x == 0) block = atomicAdd(&next_block, 1u);
    __syncthreads();
    const unsigned at = block * blockDim.x + threadIdx.x;
    const float own = data[at];
    const float sum =
        cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), own, cg::plus<float>());
    if (threadIdx.x == 0) {
        before = 0.0f;
        if (block > 0) {
            while (flags[block - 1] == 0) {
            }
            __threadfence();
            before = sums[block - 1];
        }
        sums[block] = before + sum;
        __threadfence();
        flags[block] = 1;
        if (block == gridDim.x - 1) next_block = 0;
    }
    __syncthreads();
    data[at] = before;
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_flags_between_blocks) {
    float* sums = nullptr;
    int* flags = nullptr;
    cudaMalloc(&sums, 4 * sizeof(float));
    cudaMalloc(&flags, 4 * sizeof(int));
    cudaMemset(flags, 0, 4 * sizeof(int));
    look_back<<<4, 32>>>(call.data, sums, flags);
    cudaFree(sums);
    cudaFree(flags);
}

// 23. A lock around plain accesses, with fences on both sides.
__device__ int lock = 0;
__global__ void locked(float* data) {
    for (bool done = false; !done;) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence();
            data[0] += 1.0f;
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
    }
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_lock) {
    cudaMemset(call.data, 0, sizeof(float));
    locked<<<3, 40>>>(call.data);
}

// 24. A flag in shared memory from one warp to another, with fences.
__global__ void warp_to_warp(float* data) {
    __shared__ float value;
    __shared__ int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 32) {
        value = data[5];
        __threadfence_block();
        atomicExch(&ready, 1);
    }
    if (threadIdx.x < 32) {
        while (atomicAdd(&ready, 0) == 0) {
        }
        __threadfence_block();
        data[threadIdx.x] = value;
    }
}
GRADVERIFY_SIMT_TEST_LAUNCHER(idiom_flag_between_warps) { warp_to_warp<<<1, 64>>>(call.data); }
