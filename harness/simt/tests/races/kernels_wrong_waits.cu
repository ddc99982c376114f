// SPDX-License-Identifier: Apache-2.0
// Waits and fences that hold fewer threads, or order less, than their kernels take them to: each
// kernel is wrong in one way, and `right_` stands before the name of its twin.
#ifndef __NVCC__  // the CPU device alone says so
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>

#include "harness/simt/tests/async.hpp"
#include "harness/simt/tests/launcher.hpp"
#include "harness/simt/tests/tensor_maps.hpp"

#define TWINS(NAME, ...)                                                        \
    static __global__ void NAME##_kernel(float* data, bool is_right);           \
    LAUNCHER(NAME) { NAME##_kernel<<<__VA_ARGS__>>>(call.data, false); }        \
    LAUNCHER(right_##NAME) { NAME##_kernel<<<__VA_ARGS__>>>(call.data, true); } \
    static __global__ void NAME##_kernel(float* data, bool is_right)
#define ASM(TEXT) asm volatile(TEXT ";" ::: "memory")

// ---- wgmma.wait_group: one warp is held, and knows of its own registers.

/// Both matrices are of ones, 16 deep.
#define PRODUCT_OF_ONES()                                                                         \
    __shared__ __align__(128) unsigned short ones[1024];                                          \
    float d[4] = {};                                                                              \
    for (unsigned i = threadIdx.x; i < 1024; i += 128) ones[i] = 0x3f80;                          \
    fence_proxy();                                                                                \
    __syncthreads();                                                                              \
    const unsigned long long matrix =                                                             \
        (shared_address(ones) & 0x3ffffu) >> 4 | 8ull << 16 | 16ull << 32;                        \
    ASM("wgmma.fence.sync.aligned");                                                              \
    asm volatile(                                                                                 \
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %4, 1, 1, 1, " \
        "0, 0;"                                                                                   \
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                          \
        : "l"(matrix));                                                                           \
    ASM("wgmma.commit_group.sync.aligned")
#define WAIT_FOR_PRODUCTS() ASM("wgmma.wait_group.sync.aligned 0")

TWINS(wgmma_wait_for_barrier, 1, 128) {
    __shared__ float late;
    if (threadIdx.x == 0) late = 0;
    PRODUCT_OF_ONES();
    if (threadIdx.x == 32) late = 1;  // line: wgmma_wait_for_barrier
    WAIT_FOR_PRODUCTS();
    if (is_right) __syncthreads();
    if (threadIdx.x == 0) data[0] = late + d[0];  // line: wgmma_wait_for_barrier
}

TWINS(wgmma_waited_for_by_another_warp, 1, 128) {
    __shared__ std::uint64_t done;
    if (threadIdx.x == 0) init(&done, 32);
    PRODUCT_OF_ONES();
    if (threadIdx.x >= 32) wait(&done, 0);
    float sum = 0;
    if (!is_right) sum = d[0];  // line: wgmma_waited_for_by_another_warp
    WAIT_FOR_PRODUCTS();
    if (threadIdx.x < 32) arrive(&done);
    if (is_right) sum = d[0];
    data[threadIdx.x] = sum;
}

KERNEL(wgmma_wait_of_one_warp, 1, 128) {
    PRODUCT_OF_ONES();
    if (threadIdx.x < 32) WAIT_FOR_PRODUCTS();  // line: wgmma_wait_of_one_warp
    if (threadIdx.x < 32) data[threadIdx.x] = d[0];
}

// ---- Tensor maps that kernels write.

struct MapOfOnes {
    float* ones = nullptr;
    CUtensorMap* map = nullptr;
    MapOfOnes() {
        cudaMalloc(&ones, 64 * sizeof(float));
        cudaMalloc(&map, sizeof *map);
        CUtensorMap of_host;
        encode<float>(of_host, ones, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, {{8, 8}, {8, 8}, {1, 1}},
                      CU_TENSOR_MAP_SWIZZLE_NONE);
        cudaMemcpy(map, &of_host, sizeof of_host, cudaMemcpyHostToDevice);
    }
    ~MapOfOnes() {
        cudaFree(ones);
        cudaFree(map);
    }
};
#define TWINS_OF_MAP(NAME)                                                               \
    static __global__ void NAME##_kernel(CUtensorMap* map, float* ones, bool is_right);  \
    static void launch_##NAME(bool is_right) {                                           \
        const MapOfOnes of;                                                              \
        NAME##_kernel<<<1, 64>>>(of.map, of.ones, is_right);                             \
        cudaDeviceSynchronize();                                                         \
    }                                                                                    \
    LAUNCHER(NAME) { launch_##NAME(false); }                                             \
    LAUNCHER(right_##NAME) { launch_##NAME(true); }                                      \
    static __global__ void NAME##_kernel(CUtensorMap* map, [[maybe_unused]] float* ones, \
                                         bool is_right)
#define LOAD_BOX(BOX, MAP, MBARRIER)                                                         \
    asm volatile(                                                                            \
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], " \
        "[%1, {%3, %3}], [%2];" ::"r"(shared_address(BOX)),                                  \
        "l"(MAP), "r"(shared_address(MBARRIER)), "r"(0)                                      \
        : "memory")
#define REPLACE(MAP, ADDRESS)                                                                   \
    asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(MAP), \
                 "l"(ADDRESS)                                                                   \
                 : "memory")
#define RELEASE_MAPS() ASM("fence.proxy.tensormap::generic.release.gpu")
#define ACQUIRE_MAP(MAP) \
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(MAP) : "memory")
#define MAP_KERNEL()                         \
    __shared__ std::uint64_t full;           \
    __shared__ alignas(128) float box[64];   \
    if (threadIdx.x == 0) {                  \
        init(&full, 1);                      \
        arrive_expecting(&full, sizeof box); \
    }                                        \
    __syncthreads()

TWINS_OF_MAP(map_rewritten_in_flight) {
    MAP_KERNEL();
    if (threadIdx.x != 0) return;
    LOAD_BOX(box, map, &full);  // line: map_rewritten_in_flight
    if (is_right) wait(&full, 0);
    REPLACE(map, ones);  // line: map_rewritten_in_flight
    wait(&full, 0);
}

TWINS_OF_MAP(map_not_released) {
    MAP_KERNEL();
    if (threadIdx.x != 0) return;
    REPLACE(map, ones);  // line: map_not_released
    if (is_right) RELEASE_MAPS();
    ACQUIRE_MAP(map);
    LOAD_BOX(box, map, &full);  // line: map_not_released
    wait(&full, 0);
}

TWINS_OF_MAP(map_not_acquired) {
    MAP_KERNEL();
    if (threadIdx.x != 0) return;
    REPLACE(map, ones);  // line: map_not_acquired
    RELEASE_MAPS();
    if (is_right) ACQUIRE_MAP(map);
    LOAD_BOX(box, map, &full);  // line: map_not_acquired
    wait(&full, 0);
}

TWINS_OF_MAP(map_acquired_by_another) {
    MAP_KERNEL();
    if (threadIdx.x == 0) {
        REPLACE(map, ones);  // line: map_acquired_by_another
        RELEASE_MAPS();
    }
    __syncthreads();
    if (threadIdx.x == 32) ACQUIRE_MAP(map);
    if (is_right) __syncthreads();
    if (threadIdx.x != 0) return;
    LOAD_BOX(box, map, &full);  // line: map_acquired_by_another
    wait(&full, 0);
}

TWINS_OF_MAP(map_fenced_for_async) {
    MAP_KERNEL();
    if (threadIdx.x != 0) return;
    REPLACE(map, ones);  // line: map_fenced_for_async
    if (is_right) {
        RELEASE_MAPS();
        ACQUIRE_MAP(map);
    } else {
        ASM("fence.proxy.async");
    }
    LOAD_BOX(box, map, &full);  // line: map_fenced_for_async
    wait(&full, 0);
}

TWINS_OF_MAP(map_copied_without_syncwarp) {
    __shared__ alignas(128) CUtensorMap own;
    MAP_KERNEL();
    if (threadIdx.x >= 32) return;
    if (threadIdx.x < 16) own.opaque[threadIdx.x] = map->opaque[threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 1)
        asm volatile(  // line: map_copied_without_syncwarp
            "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"l"(
                std::uint64_t{shared_address(&own)}),
            "l"(ones)
            : "memory");
    if (is_right) __syncwarp();
    asm volatile(  // line: map_copied_without_syncwarp
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
        "[%0], [%1], 128;" ::"l"(map),
        "r"(shared_address(&own))
        : "memory");
    ACQUIRE_MAP(map);
    if (threadIdx.x == 5) {
        LOAD_BOX(box, map, &full);
        wait(&full, 0);
    }
}

// ---- Fences of the asynchronous proxy.

TWINS(store_fenced_for_another_space, 1, 32) {
    __shared__ alignas(128) float stage[32];
    stage[threadIdx.x] = 1;  // line: store_fenced_for_another_space
    if (is_right)
        ASM("fence.proxy.async.shared::cta");
    else
        ASM("fence.proxy.async.global");
    __syncthreads();
    if (threadIdx.x != 0) return;
    asm volatile(  // line: store_fenced_for_another_space
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" ::"l"(data),
        "r"(shared_address(stage))
        : "memory");
    commit();
    wait_for_stores();
}

TWINS(passed_behind_a_proxy_fence, 1, 64) {
    __shared__ float value;
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        value = 5;  // line: passed_behind_a_proxy_fence
        if (is_right)
            __threadfence_block();
        else
            ASM("fence.proxy.async");
        atomicExch(&flag, 1);
    }
    if (threadIdx.x != 32) return;
    while (atomicAdd(&flag, 0) == 0) {
    }
    __threadfence_block();
    data[0] = value;  // line: passed_behind_a_proxy_fence
}

// ---- cp.async: its own thread, and who waits at the mbarrier, know of the copy.

#define COPY_FOUR(TO, FROM)                                                                      \
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(TO)), "l"(FROM) \
                 : "memory")

TWINS(copies_arrived_without_wait, 1, 64) {
    __shared__ std::uint64_t full;
    __shared__ float stage[64];
    if (threadIdx.x == 0) init(&full, 64);
    __syncthreads();
    COPY_FOUR(stage + threadIdx.x, data + threadIdx.x);  // line: copies_arrived_without_wait
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(&full))
                 : "memory");
    if (is_right) wait(&full, 0);
    __syncthreads();
    data[threadIdx.x] = stage[63 - threadIdx.x];  // line: copies_arrived_without_wait
}

TWINS(own_copy_arrived_without_wait, 1, 32) {
    __shared__ std::uint64_t full;
    __shared__ float stage[32];
    if (threadIdx.x == 0) init(&full, 64);
    __syncthreads();
    COPY_FOUR(stage + threadIdx.x, data + threadIdx.x);  // line: own_copy_arrived_without_wait
    asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(shared_address(&full))
                 : "memory");
    if (is_right) ASM("cp.async.wait_all");
    data[threadIdx.x] = stage[threadIdx.x];  // line: own_copy_arrived_without_wait
}

// An arrival at the second stage is for the copies of the first one, too.
KERNEL(right_copies_of_two_stages, 1, 64) {
    __shared__ std::uint64_t full[2];
    __shared__ float stage[2][64];
    if (threadIdx.x == 0) init(&full[0], 64), init(&full[1], 64);
    __syncthreads();
    for (int i = 0; i < 2; ++i) {
        COPY_FOUR(stage[i] + threadIdx.x, data + threadIdx.x);
        asm volatile(
            "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(&full[i]))
            : "memory");
    }
    wait(&full[1], 0);
    __syncthreads();
    data[threadIdx.x] = stage[0][63 - threadIdx.x];
}

TWINS(copy_source_overwritten, 1, 32) {
    __shared__ float stage[32];
    COPY_FOUR(stage + threadIdx.x, data + threadIdx.x);  // line: copy_source_overwritten
    if (is_right) ASM("cp.async.wait_all");
    data[threadIdx.x] = 1;  // line: copy_source_overwritten
    ASM("cp.async.wait_all");
    data[threadIdx.x] += stage[threadIdx.x];
}

// ---- mbarriers: .relaxed orders nothing without a fence.

#define MBARRIER_HAND_OVER()              \
    __shared__ std::uint64_t full;        \
    __shared__ float value;               \
    if (threadIdx.x == 0) init(&full, 1); \
    __syncthreads();                      \
    const unsigned at = shared_address(&full)

TWINS(mbarrier_arrived_relaxed, 1, 64) {
    MBARRIER_HAND_OVER();
    if (threadIdx.x == 0) {
        value = 7;  // line: mbarrier_arrived_relaxed
        if (is_right) ASM("fence.acq_rel.cta");
        asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
    }
    if (threadIdx.x != 32) return;
    wait(&full, 0);
    data[0] = value;  // line: mbarrier_arrived_relaxed
}

TWINS(mbarrier_waited_relaxed, 1, 64) {
    MBARRIER_HAND_OVER();
    if (threadIdx.x == 0) {
        value = 7;  // line: mbarrier_waited_relaxed
        arrive(&full);
    }
    if (threadIdx.x != 32) return;
    asm volatile(
        "{ .reg .pred p; again: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 p, [%0], 0; "
        "@!p bra again; }" ::"r"(at)
        : "memory");
    if (is_right) ASM("fence.acq_rel.cta");
    data[0] = value;  // line: mbarrier_waited_relaxed
}

TWINS(mbarrier_tested_once, 1, 64) {
    MBARRIER_HAND_OVER();
    if (threadIdx.x == 0) {
        value = 7;  // line: mbarrier_tested_once
        arrive(&full);
    }
    if (threadIdx.x != 32) return;
    if (is_right) wait(&full, 0);
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%0], 0; }" ::"r"(at)
                 : "memory");
    data[0] = value;  // line: mbarrier_tested_once
}

/// Looks at two by turns, and takes what has come; or takes both at once.
TWINS(mbarriers_tested_by_turns, 1, 96) {
    __shared__ std::uint64_t full[2];
    __shared__ float values[2];
    if (threadIdx.x < 2) init(&full[threadIdx.x], 1);
    __syncthreads();
    const unsigned of = threadIdx.x / 32;
    if (of < 2 && threadIdx.x % 32 == 0) {
        values[of] = 7;  // line: mbarriers_tested_by_turns
        arrive(&full[of]);
    }
    if (threadIdx.x != 64) return;
    unsigned taken = 0;
    while (taken != 3) {
        for (unsigned i = 0; i < 2; ++i) {
            unsigned is_over = 0;
            asm volatile(
                "{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; "
                "selp.u32 %0, 1, 0, p; }"
                : "=r"(is_over)
                : "r"(shared_address(&full[i]))
                : "memory");
            if (is_over == 0 && is_right) continue;
            data[i] = values[i];  // line: mbarriers_tested_by_turns
            taken |= 1u << i;
        }
    }
}

// ---- The cluster's barrier.

__global__ void __cluster_dims__(2, 1, 1) read_of_other(float* data, bool is_right, bool fences) {
    const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    const int rank = static_cast<int>(cluster.block_rank()), i = static_cast<int>(threadIdx.x);
    __shared__ float own[32];
    const float* const other = cluster.map_shared_rank(own, 1 - rank);
    own[i] = static_cast<float>(i);  // line: cluster_arrived_relaxed
    if (fences) ASM("fence.acq_rel.cluster");
    if (is_right)
        ASM("barrier.cluster.arrive.release.aligned");
    else
        ASM("barrier.cluster.arrive.relaxed.aligned");
    ASM("barrier.cluster.wait.acquire.aligned");
    data[32 * rank + i] = other[i];  // line: cluster_arrived_relaxed
    cluster.sync();
}
LAUNCHER(cluster_arrived_relaxed) { read_of_other<<<2, 32>>>(call.data, false, false); }
LAUNCHER(right_cluster_arrived_relaxed) { read_of_other<<<2, 32>>>(call.data, true, false); }
LAUNCHER(right_cluster_fenced) { read_of_other<<<2, 32>>>(call.data, false, true); }

// A store between arrival and wait is nobody's to read behind this barrier.
template <bool is_right>
__global__ void __cluster_dims__(2, 1, 1) store_behind_arrival(float* data) {
    const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    const int rank = static_cast<int>(cluster.block_rank());
    __shared__ float own, mine;
    const float* const other = cluster.map_shared_rank(&own, 1 - rank);
    if (threadIdx.x == 0) own = 0;
    cluster.sync();
    if (is_right && threadIdx.x == 0) own = 1;
    ASM("barrier.cluster.arrive.release");
    float& place = is_right ? mine : own;
    if (threadIdx.x == 0) place = 2;  // line: cluster_stored_behind_arrival
    ASM("barrier.cluster.wait.acquire");
    if (threadIdx.x == 32) data[rank] = *other;  // line: cluster_stored_behind_arrival
    cluster.sync();
}
LAUNCHER(cluster_stored_behind_arrival) { store_behind_arrival<false><<<2, 64>>>(call.data); }
LAUNCHER(right_cluster_stored_behind_arrival) { store_behind_arrival<true><<<2, 64>>>(call.data); }

// ---- Fences of a block's scope.

__device__ unsigned ticket = 0;
__device__ unsigned take_ticket() { return atomicInc(&ticket, gridDim.x - 1); }

TWINS(fence_of_block_between_blocks, 3, 32) {
    if (threadIdx.x != 0) return;
    data[1 + blockIdx.x] = 1;  // line: fence_of_block_between_blocks
    if (is_right)
        __threadfence();
    else
        __threadfence_block();
    if (take_ticket() != gridDim.x - 1) return;
    __threadfence();
    data[0] = data[1] + data[2] + data[3];  // line: fence_of_block_between_blocks
}

TWINS(fence_of_cta_scope_between_blocks, 3, 32) {
    if (threadIdx.x == 0) data[1 + blockIdx.x] = 1;  // line: fence_of_cta_scope_between_blocks
    if (is_right)
        ASM("fence.acq_rel.gpu");
    else
        ASM("membar.cta");
    __syncthreads();
    if (threadIdx.x != 0 || take_ticket() != gridDim.x - 1) return;
    __threadfence();
    data[0] = data[1] + data[2] + data[3];  // line: fence_of_cta_scope_between_blocks
}

// Nor is a barrier of the block a fence for others.
TWINS(named_barrier_between_blocks, 3, 64) {
    if (threadIdx.x == 32) data[1 + blockIdx.x] = 1;  // line: named_barrier_between_blocks
    ASM("bar.sync 1, 64");
    if (threadIdx.x != 0) return;
    if (is_right) __threadfence();
    if (take_ticket() != gridDim.x - 1) return;
    __threadfence();
    data[0] = data[1] + data[2] + data[3];  // line: named_barrier_between_blocks
}

// ---- Named barriers: an arrival is known to who waits in this use of the barrier.

TWINS(named_barrier_of_next_use, 1, 64) {
    __shared__ float value;
    ASM("bar.sync 1, 64");
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0) value = 1;  // line: named_barrier_of_next_use
        __syncwarp();
        ASM("bar.arrive 1, 64");
    } else {
        if (is_right) ASM("bar.sync 1, 64");
        if (threadIdx.x == 32) data[0] = value;  // line: named_barrier_of_next_use
        if (!is_right) ASM("bar.sync 1, 64");
    }
}

KERNEL(named_barrier_of_two_counts, 1, 96) {
    if (threadIdx.x < 32)
        ASM("bar.arrive 1, 64");
    else
        ASM("bar.sync 1, 96");  // line: named_barrier_of_two_counts
    data[0] = 1;
}
#endif
