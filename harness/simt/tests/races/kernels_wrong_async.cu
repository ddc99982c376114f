// SPDX-License-Identifier: Apache-2.0
// Kernels that lack one thing that the asynchronous proxy needs. The lines of each finding are
// marked with its launcher.
#include <cuda.h>
#include <cuda_runtime.h>

#include "harness/simt/tests/async.hpp"
#include "harness/simt/tests/launcher.hpp"

namespace {

__device__ void wait_for_reads() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ void commit_and_wait() {
    commit();
    wait_for_reads();
}

// On the line of their call, as macros.
#define LOAD(TO, FROM, BYTES, MBARRIER)                                                      \
    asm volatile(                                                                            \
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, " \
        "[%3];" ::"r"(shared_address(TO)),                                                   \
        "l"(FROM), "r"(unsigned(BYTES)), "r"(shared_address(MBARRIER))                       \
        : "memory")
#define STORE(TO, FROM, BYTES)                                                            \
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(TO), \
                 "r"(shared_address(FROM)), "r"(unsigned(BYTES))                          \
                 : "memory")

__global__ void load_without_wait(float* data) {
    __shared__ std::uint64_t full;
    __shared__ alignas(128) float stage[32];
    if (threadIdx.x == 0) {
        init(&full, 1);
        arrive_expecting(&full, sizeof stage);
        LOAD(stage, data, sizeof stage, &full);  // line: load_without_wait
    }
    __syncthreads();
    data[32 + threadIdx.x] = stage[threadIdx.x];  // line: load_without_wait
}
LAUNCHER(load_without_wait) { load_without_wait<<<1, 32>>>(call.data); }

// One thread waits, and no barrier tells the others of it.
KERNEL(load_waited_for_by_one, 1, 32) {
    __shared__ std::uint64_t full;
    __shared__ alignas(128) float stage[32];
    if (threadIdx.x == 0) {
        init(&full, 1);
        arrive_expecting(&full, sizeof stage);
        LOAD(stage, data, sizeof stage, &full);  // line: load_waited_for_by_one
        wait(&full, 0);
    }
    data[32 + threadIdx.x] = stage[threadIdx.x];  // line: load_waited_for_by_one
}

// The second wait is for the phase that the first has seen.
KERNEL(parity_reused, 1, 32) {
    __shared__ std::uint64_t full;
    __shared__ alignas(128) float stage[32];
    if (threadIdx.x == 0) init(&full, 1);
    __syncthreads();
    float sum = 0;
    for (int row = 0; row < 2; ++row) {
        if (threadIdx.x == 0) {
            arrive_expecting(&full, sizeof stage);
            LOAD(stage, data + 32 * row, sizeof stage, &full);  // line: parity_reused
        }
        if (row == 0) __syncthreads();
        wait(&full, 0);
        sum += stage[threadIdx.x];  // line: parity_reused
        __syncthreads();
    }
    data[threadIdx.x] = sum;
}

// The next load does not wait until all have read the last.
KERNEL(refilled_early, 1, 64) {
    __shared__ std::uint64_t full[2];
    __shared__ alignas(128) float stage[64];
    if (threadIdx.x == 0) init(&full[0], 1), init(&full[1], 1);
    __syncthreads();
    float sum = 0;
    for (unsigned row = 0; row < 2; ++row) {
        if (threadIdx.x == 0) {
            arrive_expecting(&full[row], sizeof stage);
            LOAD(stage, data, sizeof stage, &full[row]);  // line: refilled_early
        }
        wait(&full[row], 0);
        sum += stage[63 - threadIdx.x];  // line: refilled_early
    }
    __syncthreads();
    data[threadIdx.x] = sum;
}

// The consumers' arrivals are there, but the producer does not wait for them.
KERNEL(empty_not_waited_for, 1, 64) {
    __shared__ std::uint64_t full[2], empty;
    __shared__ alignas(16) float stage[32];
    if (threadIdx.x == 0) init(&full[0], 32), init(&full[1], 32), init(&empty, 32);
    __syncthreads();
    float sum = 0;
    for (unsigned row = 0; row < 2; ++row) {
        if (threadIdx.x < 32) {
            stage[threadIdx.x] = data[threadIdx.x] + float(row);  // line: empty_not_waited_for
            arrive(&full[row]);
        } else {
            wait(&full[row], 0);
            sum += stage[63 - threadIdx.x];  // line: empty_not_waited_for
            arrive(&empty);
        }
    }
    __syncthreads();
    if (threadIdx.x >= 32) data[threadIdx.x] = sum;
}

KERNEL(store_without_fence, 1, 32) {
    __shared__ alignas(128) float stage[32];
    stage[threadIdx.x] = float(threadIdx.x);  // line: store_without_fence
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(data, stage, sizeof stage);  // line: store_without_fence
        commit_and_wait();
    }
}

// The fence is there, but before the write.
KERNEL(store_fenced_too_early, 1, 32) {
    __shared__ alignas(128) float stage[32];
    fence_proxy();
    stage[threadIdx.x] = float(threadIdx.x);  // line: store_fenced_too_early
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(data, stage, sizeof stage);  // line: store_fenced_too_early
        commit_and_wait();
    }
}

KERNEL(store_without_barrier, 1, 64) {
    __shared__ alignas(128) float stage[64];
    stage[threadIdx.x] = float(threadIdx.x);  // line: store_without_barrier
    fence_proxy();
    if (threadIdx.x == 0) {
        STORE(data, stage, sizeof stage);  // line: store_without_barrier
        commit_and_wait();
    }
}

__global__ void overwrite_source(float* data, bool commits, bool waits) {
    __shared__ alignas(128) float stage[32];
    for (int row = 0; row < 2; ++row) {
        stage[threadIdx.x] = float(row);  // line: store_not_waited_for
        fence_proxy();
        __syncthreads();
        if (threadIdx.x == 0) {
            STORE(data, stage, sizeof stage);  // line: store_not_waited_for
            if (commits) commit();
            if (waits) wait_for_reads();
        }
        __syncthreads();
    }
}
LAUNCHER(store_not_waited_for) { overwrite_source<<<1, 32>>>(call.data, true, false); }
LAUNCHER(store_not_committed) { overwrite_source<<<1, 32>>>(call.data, false, true); }

// Its source has been read, but what it writes may not be there.
KERNEL(store_read_back, 1, 32) {
    __shared__ alignas(128) float stage[32];
    stage[threadIdx.x] = float(threadIdx.x);
    fence_proxy();
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(data, stage, sizeof stage);  // line: store_read_back
        commit_and_wait();
    }
    __syncthreads();
    data[32 + threadIdx.x] = data[threadIdx.x];  // line: store_read_back
}

KERNEL(store_outlives_block, 1, 32) {
    __shared__ alignas(128) float stage[32];
    stage[threadIdx.x] = float(threadIdx.x);
    fence_proxy();
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(data, stage, sizeof stage);  // line: store_outlives_block
        commit();
    }
}

// Nothing is missing. Another thread asks for the last copy, and another warp reads what it loads.
__global__ void copy_often(float* data, unsigned times) {
    __shared__ std::uint64_t full;
    __shared__ alignas(16) float stage[4];
    if (threadIdx.x == 0) init(&full, 1);
    __syncthreads();
    for (unsigned i = 0; i < times; ++i) {
        if (i == times - 1) __syncthreads();
        if (threadIdx.x == (i == times - 1 ? 1 : 0)) {
            arrive_expecting(&full, sizeof stage);
            LOAD(stage, data, sizeof stage, &full);
        }
        if (threadIdx.x == 0 || i == times - 1) wait(&full, i % 2);
    }
    if (threadIdx.x == 32) data[0] = stage[1];
}
LAUNCHER(more_copies_than_have_numbers) { copy_often<<<1, 33>>>(call.data, (1u << 18) + 1); }

// The barrier may be made after others have arrived at it.
__global__ void init_unsynchronised() {
    __shared__ std::uint64_t full;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::  // line: init_without_barrier
                     "r"(shared_address(&full)));
    if (threadIdx.x < 32) __syncwarp();
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::  // line: init_without_barrier
                 "r"(shared_address(&full))
                 : "memory");
}
LAUNCHER(init_without_barrier) { init_unsynchronised<<<1, 64>>>(); }

/// 128 bytes come.
__global__ void expect_other(float* data, unsigned bytes) {
    __shared__ std::uint64_t full;
    __shared__ alignas(128) float stage[32];
    if (threadIdx.x == 0) {
        init(&full, 1);
        arrive_expecting(&full, bytes);
        LOAD(stage, data, sizeof stage, &full);
    }
    __syncthreads();
    wait(&full, 0);
    data[32 + threadIdx.x] = stage[threadIdx.x];
}
LAUNCHER(expects_more_bytes) { expect_other<<<1, 32>>>(call.data, 256); }
LAUNCHER(expects_fewer_bytes) { expect_other<<<1, 32>>>(call.data, 64); }

__global__ void arrive_twice() {
    __shared__ std::uint64_t full;
    init(&full, 1);
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 2;" ::"r"(shared_address(&full))
                 : "memory");
}
LAUNCHER(an_arrival_too_many) { arrive_twice<<<1, 1>>>(); }

__global__ void arrive_at(float* data, unsigned expected, bool makes, unsigned offset) {
    __shared__ std::uint64_t full;
    __shared__ alignas(128) float stage[64];
    if (threadIdx.x == 0 && makes) init(&full, expected);
    __syncthreads();
    if (offset != 0 && threadIdx.x == 0) LOAD(stage + offset, data, 16, &full);
    arrive(&full);
    if (expected > 32) wait(&full, 0);
}
LAUNCHER(an_arrival_too_few) { arrive_at<<<1, 32>>>(call.data, 33, true, 0); }
LAUNCHER(no_mbarrier) { arrive_at<<<1, 32>>>(call.data, 32, false, 0); }
LAUNCHER(load_misaligned) { arrive_at<<<1, 32>>>(call.data, 32, true, 1); }

// Coordinates that a GPU refuses.
__global__ void copy_tile(const __grid_constant__ CUtensorMap map, int x, int y, bool loads) {
    __shared__ std::uint64_t full;
    __shared__ alignas(128) float box[16];
    if (threadIdx.x != 0) return;
    init(&full, 1);
    if (loads)
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
            "[%1, {%2, %3}], [%4];" ::"r"(shared_address(box)),
            "l"(&map), "r"(x), "r"(y), "r"(shared_address(&full))
            : "memory");
    else
        asm volatile(
            "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
                &map),
            "r"(x), "r"(y), "r"(shared_address(box))
            : "memory");
}
void launch_copy_of_tile(float* data, int x, int y, bool loads) {
    const cuuint64_t sizes[] = {8, 4}, stride[] = {8 * sizeof(float)};
    const cuuint32_t box[] = {8, 2}, steps[] = {1, 1};
    void* encode = nullptr;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                     nullptr);
    CUtensorMap map;
    reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, data, sizes, stride, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    copy_tile<<<1, 32>>>(map, x, y, loads);
}
LAUNCHER(tile_loaded_between_16_bytes) { launch_copy_of_tile(call.data, -1, 0, true); }
LAUNCHER(tile_stored_between_16_bytes) { launch_copy_of_tile(call.data, 2, 0, false); }
LAUNCHER(tile_stored_below_0) { launch_copy_of_tile(call.data, 0, -1, false); }

}  // namespace
