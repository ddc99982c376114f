// SPDX-License-Identifier: Apache-2.0
// Correct kernels in the idioms of CUDA code at large. The detector must be silent on each;
// data[0 .. count) holds 0, 1, 2 ... and each leaves a result to compare.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <cub/cub.cuh>

#include "harness/simt/tests/launcher.hpp"

namespace cg = cooperative_groups;

// A loop that ends when no thread of the block has anything left to do.
KERNEL(idiom_syncthreads_or_loop, 1, 64) {
    __shared__ int values[64];
    const unsigned i = threadIdx.x;
    values[i] = i == 0 ? 0 : 1000;
    __syncthreads();
    int changed = 1;
    while (__syncthreads_or(changed)) {
        const int left = i > 0 ? values[i - 1] + 1 : 0;
        __syncthreads();
        changed = left < values[i];
        if (changed) values[i] = left;
    }
    data[i] = values[i];
}

KERNEL(idiom_shared_union, 1, 64) {
    __shared__ union {
        float as_float[64];
        unsigned char as_bytes[256];
    } memory;
    memory.as_float[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    const unsigned top = memory.as_bytes[4 * (63 - threadIdx.x) + 3];
    __syncthreads();
    for (int i = 0; i < 4; ++i) memory.as_bytes[threadIdx.x + 64 * i] = top + i;
    __syncthreads();
    data[threadIdx.x] = memory.as_bytes[4 * threadIdx.x] + memory.as_bytes[4 * threadIdx.x + 3];
}

// Copies by vector types, and of structures with padding.
struct Pair {
    double value;
    int index;
};
KERNEL(idiom_vector_copies, 1, 16) {
    __shared__ float4 staged[16];
    __shared__ Pair pairs[16];
    const unsigned i = threadIdx.x;
    staged[i] = reinterpret_cast<const float4*>(data)[i];
    pairs[i].value = data[4 * i];
    pairs[i].index = static_cast<int>(i);
    __syncthreads();
    const Pair pair = pairs[15 - i];
    float4 mine = staged[15 - i];
    mine.x += static_cast<float>(pair.value) + pair.index;
    reinterpret_cast<float4*>(data)[i] = mine;
}

// Every thread stores the same value, and reads it back at once; blocks overlap in a halo.
__global__ void same_value(float* data, int count) {
    __shared__ int limit;
    limit = count;
    __threadfence_block();  // has it read again
    const int own = limit;
    __syncthreads();
    for (int i = -1; i <= 1; ++i) {
        const int at = static_cast<int>(blockIdx.x) * 4 + static_cast<int>(threadIdx.x) % 4 + i;
        if (at >= 0 && at < own) data[at] = 2.0f * at + limit;
    }
}
LAUNCHER(idiom_same_value_writes) { same_value<<<4, 32>>>(call.data, 16); }

// Blocks of bytes of a constant size, which compilers expand in place.
struct Row {
    float values[64];
};
KERNEL(idiom_blocks_of_bytes, 1, 32) {
    __shared__ Row rows[4];
    if (threadIdx.x == 0) memset(rows, 0, sizeof rows);
    __syncthreads();
    if (threadIdx.x < 2) memcpy(&rows[threadIdx.x], data + 64 * threadIdx.x, sizeof(Row));
    __syncthreads();
    if (threadIdx.x == 2) memcpy(&rows[2], &rows[1], sizeof(Row));
    if (threadIdx.x == 3) rows[3] = rows[0];
    __syncthreads();
    for (int i = threadIdx.x; i < 64; i += 32)
        data[i] = rows[0].values[i] + rows[1].values[i] + rows[2].values[i] + rows[3].values[i];
}

// The last block to finish adds up what the others have left, behind a fence and a ticket.
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
LAUNCHER(idiom_last_block) {
    last_block<false><<<7, 64>>>(call.data + 128, call.data, 200);
    last_block<true><<<7, 64>>>(call.data + 128, call.data + 8, 200);
}

KERNEL(idiom_syncwarp_sum, 1, 96) {
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

// Volatile shared memory, where the read is kept apart from the write.
KERNEL(idiom_volatile_with_syncwarp, 1, 32) {
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

// A full mask names lanes that have exited.
KERNEL(idiom_full_mask, 1, 32) {
    if (threadIdx.x >= 8) return;
    __syncwarp();
    data[threadIdx.x] = 1.0f;
}

// Shuffles among the lanes that have work; what comes from beyond is discarded.
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
LAUNCHER(idiom_partial_masks) { partial_masks<<<1, 64>>>(call.data, 41); }

// Atomics aggregated over a warp: one for each distinct key, and one for all that are active.
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
LAUNCHER(idiom_warp_aggregated_atomics) {
    int* counts = reinterpret_cast<int*>(call.data);
    cudaMemset(counts, 0, 4 * sizeof(int));
    aggregated<<<3, 64>>>(call.data + 4, counts, 150);
}

// Each block counts in its own place, and adds that to the sum of all.
__global__ void count_twice(int* counts) {
    int *const own = counts + 1 + blockIdx.x, *const all = counts;
    atomicAdd_block(own, 1);
    asm volatile("red.relaxed.cta.global.add.u32 [%0], 1;" ::"l"(own) : "memory");
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(all, *own);
    asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(all) : "memory");
}
LAUNCHER(idiom_block_scope) {
    cudaMemset(call.data, 0, 4 * sizeof(int));
    count_twice<<<3, 64>>>(reinterpret_cast<int*>(call.data));
}

// Blocks that hand a running sum on, by flags and fences; each takes its number from a ticket.
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
LAUNCHER(idiom_flags_between_blocks) {
    int* flags = reinterpret_cast<int*>(call.data + 256);
    cudaMemset(flags, 0, 4 * sizeof(int));
    look_back<<<4, 32>>>(call.data, call.data + 128, flags);
}

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
LAUNCHER(idiom_lock) {
    cudaMemset(call.data, 0, sizeof(float));
    locked<<<3, 40>>>(call.data);
}

KERNEL(idiom_flag_between_warps, 1, 64) {
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

// All set a flag alike, and one changes it behind a barrier.
KERNEL(idiom_flag_set_by_all, 1, 64) {
    __shared__ float flag;
    flag = 1.0f;
    __syncthreads();
    if (threadIdx.x == 0) flag = 2.0f;
    __syncthreads();
    data[threadIdx.x] = flag;
}

// Asynchronous copies in two stages: the next row is fetched while the last one is read.
KERNEL(idiom_asynchronous_copies, 1, 64) {
    __shared__ float stage[2][64];
    const unsigned i = threadIdx.x;
    const auto fetch = [&](int row) {
        const auto place = static_cast<unsigned>(__cvta_generic_to_shared(&stage[row % 2][i]));
        if (row < 6)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(place),
                         "l"(data + 64 * (row + 1) + i)
                         : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    float sum = 0;
    fetch(0);
    for (int row = 0; row < 6; ++row) {
        fetch(row + 1);
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        sum += stage[row % 2][63 - i];
        __syncthreads();
    }
    data[i] = sum;
}

// Warp 0 hands over to warp 1 by a barrier for both, and takes back by another.
KERNEL(idiom_named_barriers, 1, 64) {
    __shared__ float ball[32];
    const unsigned lane = threadIdx.x % 32;
    for (int turn = 0; turn < 4; ++turn) {
        if (threadIdx.x < 32) {
            ball[lane] = data[lane] + float(turn);
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            asm volatile("bar.sync 2, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            data[32 + lane] = ball[31 - lane];
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}

// A number and its flag are one access, as NCCL passes data between blocks.
__global__ void pass_by_flag(float* data, uint2* line) {
    unsigned value = 0, flag = 0;
    if (threadIdx.x == 0) {
        asm volatile("st.volatile.global.v2.u32 [%0], {%1, %2};" ::"l"(line), "r"(7), "r"(1)
                     : "memory");
    } else {
        while (flag == 0)
            asm volatile("ld.volatile.global.v2.u32 {%0, %1}, [%2];"
                         : "=r"(value), "=r"(flag)
                         : "l"(line)
                         : "memory");
        data[0] = float(value);
    }
}
LAUNCHER(idiom_data_with_flag) {
    cudaMemset(call.data + 2, 0, 8);
    pass_by_flag<<<1, 2>>>(call.data, reinterpret_cast<uint2*>(call.data + 2));
}

// Scans one behind the other on one storage: what CUB reads last, no other thread writes first.
struct RunningTotal {
    float total;
    __device__ float operator()(float of_block) {
        const float before = total;
        total += of_block;
        return before;
    }
};
template <cub::BlockScanAlgorithm algorithm>
__global__ void scans_in_a_row(float* data) {
    using Scan = cub::BlockScan<float, 64, algorithm>;
    __shared__ typename Scan::TempStorage storage;
    RunningTotal total{0};
    float sum = data[threadIdx.x];
    for (int i = 0; i < 3; ++i) {
        Scan(storage).InclusiveSum(sum, sum, total);
        if (algorithm == cub::BLOCK_SCAN_RAKING) Scan(storage).ExclusiveSum(sum, sum);
    }
    data[threadIdx.x] = sum;
}
LAUNCHER(idiom_raking_scans) { scans_in_a_row<cub::BLOCK_SCAN_RAKING><<<1, 64>>>(call.data); }
LAUNCHER(idiom_scans_of_warps) { scans_in_a_row<cub::BLOCK_SCAN_WARP_SCANS><<<1, 64>>>(call.data); }
