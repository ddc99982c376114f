// SPDX-License-Identifier: Apache-2.0
// Warp shuffles, votes, atomics, and cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include "harness/simt/tests/launcher.hpp"

namespace cg = cooperative_groups;

__device__ float warp_sum(float value) {
#pragma unroll
    for (int delta = 16; delta > 0; delta /= 2) {
        value += __shfl_down_sync(0xffffffff, value, delta);
    }
    return value;
}

__global__ void block_sum(float* data, int count) {
    __shared__ float of_warp[32];
    float value = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) value += data[i];
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) {
        value = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0;
        value = warp_sum(value);
        if (threadIdx.x == 0) data[0] = value;
    }
}
GRADVERIFY_SIMT_TEST_LAUNCHER(sum_by_shuffles) {
    block_sum<<<1, call.block>>>(call.data, call.count);
}

__global__ void shuffles(float* data) {
    const int lane = threadIdx.x;
    const int up = __shfl_up_sync(~0u, lane, 3, 8);
    const int down = __shfl_down_sync(~0u, lane, 3, 8);
    const int swapped = __shfl_xor_sync(~0u, lane, 1);
    const double wide = __shfl_sync(~0u, lane * 0.5, 5);
    data[lane] = up + 100 * down + 10000 * swapped + float(wide);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(all_shuffles) { shuffles<<<1, 32>>>(call.data); }

__global__ void warp_votes(float* data) {
    const unsigned lane = threadIdx.x;
    const unsigned odd = __ballot_sync(~0u, lane % 2);
    const int any = __any_sync(~0u, lane == 31), all = __all_sync(~0u, lane == 31);
    const unsigned equal = __match_any_sync(~0u, lane / 8);
    const int largest = __reduce_max_sync(~0u, int(lane) - 40);
    data[lane] = __popc(odd) + 100 * any + 1000 * all + 10000 * __popc(equal) + largest;
}
GRADVERIFY_SIMT_TEST_LAUNCHER(all_votes) { warp_votes<<<1, 32>>>(call.data); }

// Lanes 20 and up leave; the others still name them in the mask.
__global__ void exited_lanes(float* data) {
    if (threadIdx.x >= 20) return;
    const unsigned voted = __ballot_sync(0xffffffff, 1);
    data[threadIdx.x] = __popc(voted);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(vote_with_exited_lanes) { exited_lanes<<<1, 32>>>(call.data); }

// Two halves of a warp, each at its own collective.
__global__ void halves(float* data) {
    if (threadIdx.x < 16) {
        data[threadIdx.x] = __shfl_sync(0x0000ffffu, int(threadIdx.x), 3);
    } else {
        data[threadIdx.x] = __shfl_sync(0xffff0000u, int(threadIdx.x), 19);
    }
}
GRADVERIFY_SIMT_TEST_LAUNCHER(shuffle_in_halves) { halves<<<1, 32>>>(call.data); }

// Lanes that take a branch add up as one: the count is right however they are grouped.
__global__ void aggregated(float* data) {
    if (threadIdx.x % 3 == 0) {
        const unsigned active = __activemask();
        const unsigned rank = __popc(active & ((1u << (threadIdx.x % 32)) - 1));
        if (rank == 0) atomicAdd(&data[0], float(__popc(active)));
    } else {
        __syncwarp(__activemask());
    }
}
GRADVERIFY_SIMT_TEST_LAUNCHER(aggregate_active_lanes) { aggregated<<<1, 96>>>(call.data); }

// Odd lanes vote while even lanes wait at the barrier and the other warp has left.
__global__ void diverged(float* data) {
    if (threadIdx.x >= 32) return;
    if (threadIdx.x % 2 == 1) data[threadIdx.x] = __popc(__activemask());
    __syncthreads();
}
GRADVERIFY_SIMT_TEST_LAUNCHER(active_beside_a_barrier) { diverged<<<1, 64>>>(call.data); }

__global__ void groups(float* data) {
    const cg::thread_block block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<8>(block);
    const int sum = cg::reduce(tile, int(block.thread_rank()), cg::plus<int>());
    const int first = tile.shfl(int(block.thread_rank()), 0);
    block.sync();
    data[block.thread_rank()] = sum + 1000 * first + 100000 * tile.meta_group_rank();
}
GRADVERIFY_SIMT_TEST_LAUNCHER(cooperative_tiles) { groups<<<1, 64>>>(call.data); }

__global__ void atomics(float* data, int* integers, double* real, unsigned long long* wide) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(data, 1.0f);
    atomicAdd(real, 0.5);
    atomicAdd(wide, 3ull);
    atomicAdd(&integers[0], i);
    atomicMax(&integers[1], i);
    atomicMin(&integers[2], -i);
    atomicOr(&integers[3], 1 << (i % 8));
    atomicSub(&integers[4], 1);
    atomicInc(reinterpret_cast<unsigned*>(&integers[5]), 9u);
    // A lock: the winner alone goes on.
    while (atomicCAS(&integers[6], 0, 1) != 0) {
    }
    integers[7] += 1;
    __threadfence();
    atomicExch(&integers[6], 0);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(all_atomics) {
    int* integers;
    double* real;
    unsigned long long* wide;
    cudaMalloc(&integers, 8 * sizeof(int));
    cudaMalloc(&real, sizeof(double));
    cudaMalloc((void**)&wide, sizeof(unsigned long long));
    cudaMemset(integers, 0, 8 * sizeof(int));
    cudaMemset(real, 0, sizeof(double));
    cudaMemset(wide, 0, sizeof(unsigned long long));
    cudaMemset(call.data, 0, call.count * sizeof(float));
    atomics<<<4, 64>>>(call.data, integers, real, wide);
    int host[8];
    double host_real;
    unsigned long long host_wide;
    cudaMemcpy(host, integers, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpy(&host_real, real, sizeof host_real, cudaMemcpyDeviceToHost);
    cudaMemcpy(&host_wide, wide, sizeof host_wide, cudaMemcpyDeviceToHost);
    float results[10];
    cudaMemcpy(results, call.data, sizeof results, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 6; ++i) results[1 + i] = float(host[i]);
    results[7] = float(host[7]);
    results[8] = float(host_real);
    results[9] = float(host_wide);
    cudaMemcpy(call.data, results, sizeof results, cudaMemcpyHostToDevice);
    cudaFree(integers);
    cudaFree(real);
    cudaFree(wide);
}

// Thread 0 waits for the last thread of its block, which has not begun when threads are ascending.
__global__ void spin(float* data) {
    __shared__ int ready;
    if (threadIdx.x == 0) atomicExch(&ready, 0);
    __syncthreads();
    if (threadIdx.x == 0) {
        while (atomicAdd(&ready, 0) == 0) {
        }
        data[0] = 5;
    } else if (threadIdx.x == 63) {
        atomicExch(&ready, 1);
    }
}
GRADVERIFY_SIMT_TEST_LAUNCHER(spin_on_an_atomic) { spin<<<1, 64>>>(call.data); }
