// SPDX-License-Identifier: Apache-2.0
// Kernels that are wrong in one way each. A comment on the wrong lines names the launcher.
#include <cuda_runtime.h>

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <mma.h>
#include <cub/cub.cuh>
#include <cuda/barrier>

#include <thrust/execution_policy.h>
#include <thrust/fill.h>

#include "harness/simt/tests/launcher.hpp"

namespace cg = cooperative_groups;
namespace wmma = nvcuda::wmma;
using Factor = wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;

// A buffer is used for a second sum while threads may still read the first.
KERNEL(scratch_reused_without_barrier, 1, 64) {
    __shared__ float scratch[64];
    const unsigned i = threadIdx.x;
    scratch[i] = data[i];
    __syncthreads();
    const float other = scratch[63 - i];  // line: scratch_reused_without_barrier
    scratch[i] = other + 1.0f;            // line: scratch_reused_without_barrier
    __syncthreads();
    data[i] = scratch[i];
}

KERNEL(race_between_blocks, 4, 1) {
    const unsigned i = blockIdx.x;
    const float left = i > 0 ? data[i - 1] : 0.0f;  // line: race_between_blocks
    data[i] = left + 1.0f;                          // line: race_between_blocks
}

KERNEL(read_of_unwritten_shared, 1, 32) {
    __shared__ float tile[32];
    if (threadIdx.x < 31) tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[threadIdx.x];  // line: read_of_unwritten_shared
}

KERNEL(cleared_without_barrier, 1, 32) {
    __shared__ float tile[32];
    tile[threadIdx.x] = 1.0f;
    __syncthreads();
    if (threadIdx.x == 31) memset(tile, 0, sizeof tile);  // line: cleared_without_barrier
    data[threadIdx.x] = tile[threadIdx.x];                // line: cleared_without_barrier
}

__global__ void plain_sum(float* data, int count) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        if (i > 0) data[0] += data[i];  // line: plain_add_for_atomic
    }
}
LAUNCHER(plain_add_for_atomic) { plain_sum<<<1, 33>>>(call.data, call.count); }

__global__ void from_exited(float* data, int count) {
    if (threadIdx.x >= unsigned(count)) return;
    data[threadIdx.x] = __shfl_down_sync(~0u, data[threadIdx.x], 1);  // line: shuffle_from_exited
}
LAUNCHER(shuffle_from_exited) { from_exited<<<1, 32>>>(call.data, 20); }

KERNEL(mask_names_absent_lane, 1, 32) {
    if (threadIdx.x >= 8) return;
    __syncwarp(0x1ffu);  // line: mask_names_absent_lane
    data[threadIdx.x] = 1.0f;
}

KERNEL(different_barriers, 1, 64) {
    if (threadIdx.x < 32) {
        data[threadIdx.x] = 1.0f;
        __syncthreads();  // line: different_barriers
    } else {
        __syncthreads();  // line: different_barriers
    }
}

__global__ void write_past(float* data, int count) {
    if (threadIdx.x <= unsigned(count)) data[threadIdx.x] = 1.0f;  // line: write_past_the_end
}
LAUNCHER(write_past_the_end) { write_past<<<1, 96>>>(call.data, call.count); }
KERNEL(read_before_the_start, 1, 1) {
    data[threadIdx.x] = data[int(threadIdx.x) - 1];  // line: read_before_the_start
}

KERNEL(shared_write_past_the_end, 1, 32) {
    __shared__ float first[32];
    __shared__ float second[32];
    first[threadIdx.x + 1] = data[threadIdx.x];  // line: shared_write_past_the_end
    second[threadIdx.x] = 0.0f;
    __syncthreads();
    data[threadIdx.x] = first[threadIdx.x + (threadIdx.x == 0)] + second[threadIdx.x];
}
KERNEL(dynamic_read_past_the_end, 1, 31, 31 * sizeof(float)) {
    extern __shared__ float dynamic[];
    dynamic[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = dynamic[threadIdx.x + 1];  // line: dynamic_read_past_the_end
}
__global__ void next_page(float* data, int count) {
    data[count + 64 + threadIdx.x] = 1.0f;  // line: global_write_to_unmapped
}
LAUNCHER(global_write_to_unmapped) { next_page<<<1, 1>>>(call.data, call.count); }

__global__ void from_host(float* data, const float* host) {
    data[threadIdx.x] = host[threadIdx.x];  // line: host_pointer
}
LAUNCHER(host_pointer) {
    float* host = new float[64];
    for (int i = 0; i < 64; ++i) host[i] = i;
    from_host<<<1, 32>>>(call.data, host);
    delete[] host;
}

// Warp-synchronous code as it was written before sm_70.
KERNEL(warp_without_syncwarp, 1, 32) {
    __shared__ volatile float lanes[64];
    const unsigned i = threadIdx.x;
    lanes[i] = data[i];
    lanes[i + 32] = 0.0f;
    for (int step = 16; step > 0; step /= 2) {
        lanes[i] = lanes[i] + lanes[i + step];  // line: warp_without_syncwarp
    }
    data[i] = lanes[i];
}

KERNEL(arrived_without_wait, 1, 64) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ float late[64];
    if (threadIdx.x == 0) init(&barrier, 64);
    __syncthreads();
    late[threadIdx.x] = 1.0f;  // line: arrived_without_wait
    static_cast<void>(barrier.arrive());
    data[threadIdx.x] = late[63 - threadIdx.x];  // line: arrived_without_wait
}

KERNEL(handed_on_relaxed, 1, 64) {
    __shared__ cuda::atomic<int, cuda::thread_scope_block> flag;
    if (threadIdx.x == 0) flag.store(0);
    __syncthreads();
    if (threadIdx.x == 0) {
        data[0] = 2.0f;  // line: handed_on_relaxed
        flag.store(1, cuda::memory_order_relaxed);
    } else if (threadIdx.x == 32) {
        while (flag.load(cuda::memory_order_acquire) == 0) {
        }
        data[1] = data[0];  // line: handed_on_relaxed
    }
}

__device__ unsigned tickets;
KERNEL(last_block_without_fence, 4, 32) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        data[blockIdx.x] = blockIdx.x + 1.0f;  // line: last_block_without_fence
        is_last = atomicAdd(&tickets, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last || threadIdx.x != 0) return;
    float sum = 0.0f;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += data[i];  // line: last_block_without_fence
    data[0] = sum;
    tickets = 0;
}

__global__ void mixed(float* data, int* counter) {
    atomicAdd(counter, 1);         // line: plain_read_of_an_atomic
    data[threadIdx.x] = *counter;  // line: plain_read_of_an_atomic
}
LAUNCHER(plain_read_of_an_atomic) {
    mixed<<<1, 32>>>(call.data, reinterpret_cast<int*>(call.data + 64));
}

__global__ void count_in_block(int* count) { atomicAdd_block(count, 1); }  // line: block_scope
LAUNCHER(block_scope) { count_in_block<<<2, 32>>>(reinterpret_cast<int*>(call.data)); }

// Factors are loaded while other lanes may still store theirs.
__global__ void staged_factors(float* data) {
    __shared__ __align__(32) float staged[128];
    for (int i = threadIdx.x; i < 128; i += 32) staged[i] = data[i % 64];  // line: staged_factors
    Factor a;
    wmma::load_matrix_sync(a, staged, 8);  // line: staged_factors
    data[threadIdx.x] = a.x[0];
}
LAUNCHER(staged_factors) { staged_factors<<<1, 32>>>(call.data); }

// A warp's own sums are read by other lanes than those that stored them.
__global__ void own_sums(float* data) {
    __shared__ __align__(32) float sums[256];
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 1.0f);
    wmma::store_matrix_sync(sums, sum, 16, wmma::mem_row_major);  // line: own_sums
    data[threadIdx.x] = sums[8 * threadIdx.x + 12 & 255];         // line: own_sums
}
LAUNCHER(own_sums) { own_sums<<<1, 32>>>(call.data); }

KERNEL(factors_loaded_past_the_end, 1, 32) {
    __shared__ __align__(32) float factors[120];
    for (int i = threadIdx.x; i < 120; i += 32) factors[i] = data[i % 32];
    __syncthreads();
    Factor a;
    wmma::load_matrix_sync(a, factors, 8);  // line: factors_loaded_past_the_end
    data[threadIdx.x] = a.x[0];
}

KERNEL(factors_loaded_by_half_a_warp, 1, 32) {
    Factor a;
    if (threadIdx.x >= 16) return;
    wmma::load_matrix_sync(a, data, 8);  // line: factors_loaded_by_half_a_warp
    data[threadIdx.x] = a.x[0];
}

// The thread that writes may be the last that has read it.
KERNEL(written_after_others_read, 1, 2) {
    const float seen = data[0];                   // line: written_after_others_read
    if (threadIdx.x == 0) data[0] = seen + 1.0f;  // line: written_after_others_read
    data[1 + threadIdx.x] = seen;
}

KERNEL(read_of_unwritten_byte, 1, 32) {
    __shared__ unsigned char bytes[4];
    if (threadIdx.x == 0) bytes[0] = 1;
    __syncthreads();
    data[threadIdx.x] = bytes[1];  // line: read_of_unwritten_byte
}

// That all had written the same before does not excuse them.
KERNEL(written_anew_without_barrier, 1, 32) {
    __shared__ float flag;
    flag = 1.0f;
    __syncthreads();
    if (threadIdx.x == 0) flag = data[40];  // line: written_anew_without_barrier
    data[threadIdx.x] = flag;               // line: written_anew_without_barrier
}

// Which value stays depends on whether the first thread gives way at reads that nobody else makes.
KERNEL(last_one_stays, 1, 2) { data[0] = threadIdx.x == 0 ? data[1] + data[2] : -1.0f; }

// Only pre-emption shows the lost updates in the values.
__global__ void lost_updates(float* data) { data[0] += 1.0f; }
LAUNCHER(lost_updates) {
    cudaMemset(call.data, 0, sizeof(float));
    lost_updates<<<1, 64>>>(call.data);
}

LAUNCHER(fill_past_the_end) {
    float* const end = call.data + call.count + 1;
    thrust::fill(thrust::device, call.data, end, 1.0f);  // line: fill_past_the_end
}

// Two stages of asynchronous copies; each kernel lacks one thing that the pipeline needs.
#define COPY(TO, FROM)                                                     \
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(         \
                     static_cast<unsigned>(__cvta_generic_to_shared(TO))), \
                 "l"(FROM)                                                 \
                 : "memory")
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ void wait_for_all_but_one() { asm volatile("cp.async.wait_group 1;" ::: "memory"); }
__device__ void wait_for_all() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }

KERNEL(async_without_wait, 1, 32) {
    __shared__ float stage[32];
    const unsigned i = threadIdx.x;
    COPY(stage + i, data + i);  // line: async_without_wait
    commit();
    __syncthreads();
    data[32 + i] = stage[i ^ 1];  // line: async_without_wait
}

KERNEL(async_without_commit, 1, 32) {
    __shared__ float stage[32];
    const unsigned i = threadIdx.x;
    COPY(stage + i, data + i);  // line: async_without_commit
    wait_for_all();
    __syncthreads();
    data[32 + i] = stage[i ^ 1];  // line: async_without_commit
}

KERNEL(async_without_barrier, 1, 64) {
    __shared__ float stage[64];
    const unsigned i = threadIdx.x;
    COPY(stage + i, data + i);  // line: async_without_barrier
    commit();
    wait_for_all();
    data[i] = stage[63 - i];  // line: async_without_barrier
}

KERNEL(async_early_refill, 1, 64) {
    __shared__ float stage[64];
    const unsigned i = threadIdx.x;
    float sum = 0;
    for (int row = 0; row < 2; ++row) {
        COPY(stage + i, data + i);  // line: async_early_refill
        commit();
        wait_for_all();
        __syncthreads();
        sum += stage[63 - i];  // line: async_early_refill
    }
    __syncthreads();
    data[i] = sum;
}

KERNEL(async_one_stage_too_few, 1, 32) {
    __shared__ float stage[2][32];
    const unsigned i = threadIdx.x;
    float sum = 0;
    for (int row = 0; row < 4; ++row) {
        COPY(stage[row % 2] + i, data + i);  // line: async_one_stage_too_few
        commit();
        wait_for_all_but_one();
        __syncthreads();
        sum += stage[row % 2][31 - i];  // line: async_one_stage_too_few
        __syncthreads();
    }
    data[i] = sum;
}

__global__ void group_copy_without_wait(float* data) {
    __shared__ __align__(16) float stage[64];
    const auto block = cg::this_thread_block();
    cg::memcpy_async(block, stage, data, sizeof stage);  // line: group_copy_without_wait
    block.sync();
    data[threadIdx.x] = stage[63 - threadIdx.x];  // line: group_copy_without_wait
}
LAUNCHER(group_copy_without_wait) { group_copy_without_wait<<<1, 64>>>(call.data); }

__global__ void group_copy_waits_early(float* data) {
    __shared__ float stage[64];
    const auto block = cg::this_thread_block();
    cg::memcpy_async(block, stage, 32, data, 64);
    cg::memcpy_async(block, stage + 32, data + 32, 128);  // line: group_copy_waits_early
    cg::wait_prior<1>(block);
    data[threadIdx.x] = stage[63 - threadIdx.x];  // line: group_copy_waits_early
}
LAUNCHER(group_copy_waits_early) { group_copy_waits_early<<<1, 64>>>(call.data); }

// Half of the warps leave a barrier of their own, and read what the others wrote.
KERNEL(named_barrier_of_half, 1, 64) {
    __shared__ float half[64];
    const unsigned i = threadIdx.x;
    half[i] = data[i];  // line: named_barrier_of_half
    asm volatile("bar.sync %0, 32;" ::"r"(1 + i / 32) : "memory");
    data[i] = half[63 - i];  // line: named_barrier_of_half
}

// Without a callback CUB's scan of warps ends with reads of the sums that the next one writes.
KERNEL(scans_without_barrier, 1, 64) {
    using Scan = cub::BlockScan<float, 64, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename Scan::TempStorage storage;
    float sum = data[threadIdx.x];
    Scan(storage).InclusiveSum(sum, sum);  // line: scans_without_barrier
    Scan(storage).InclusiveSum(sum, sum);  // line: scans_without_barrier
    data[threadIdx.x] = sum;
}

// A thread's own array, as many elements of which are used as the launcher says.
__global__ void sum_in_registers(float* data, int count) {
    float sums[8] = {};
    for (int i = 0; i < count; ++i) sums[i] += data[i];
    float sum = 0.0f;
    for (float one : sums) sum += one;
    data[threadIdx.x] = sum;
}
LAUNCHER(beyond_own_array) { sum_in_registers<<<1, 1>>>(call.data, 9); }
LAUNCHER(within_own_array) { sum_in_registers<<<1, 1>>>(call.data, 8); }

// As one array of all its elements.
__global__ void fill_flat(float* data, int count) {
    float tile[4][8];
    for (int i = 0; i < count; ++i) tile[0][i] = 1.0f;
    float sum = 0.0f;
    for (const auto& row : tile)
        for (const float one : row) sum += one;
    data[threadIdx.x] = sum;
}
LAUNCHER(beyond_own_rows) { fill_flat<<<1, 32>>>(call.data, 33); }
LAUNCHER(within_own_rows) { fill_flat<<<1, 32>>>(call.data, 32); }
