// SPDX-License-Identifier: Apache-2.0
// A pipeline of TMA and wgmma, right and with one mistake each.
#include "harness/simt/tests/launcher.hpp"
#include "harness/simt/tests/ptx/gemm_pipeline.hpp"

#define PIPELINE(NAME, IS_PAIR, MISTAKE)                                         \
    LAUNCHER(NAME) {                                                             \
        const auto wrong = static_cast<float>(wrong_elements<IS_PAIR>(MISTAKE)); \
        cudaMemcpy(call.data, &wrong, sizeof wrong, cudaMemcpyHostToDevice);     \
    }
PIPELINE(pipeline_right, false, Mistake::none)
PIPELINE(pipeline_of_pairs, true, Mistake::none)
PIPELINE(full_not_waited_for, false, Mistake::full_not_waited_for)
PIPELINE(empty_not_waited_for_of_pipeline, false, Mistake::empty_not_waited_for)
PIPELINE(wrong_parity, false, Mistake::wrong_parity)
PIPELINE(expects_too_little, false, Mistake::expects_too_little)
PIPELINE(expects_too_much, false, Mistake::expects_too_much)
PIPELINE(released_early, false, Mistake::released_early)
PIPELINE(released_early_in_pair, true, Mistake::released_early)
PIPELINE(store_not_fenced, false, Mistake::store_not_fenced)
PIPELINE(no_cluster_barrier, true, Mistake::no_cluster_barrier)

#if !defined(__NVCC__) || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/// Each block arrives at the other's mbarrier, and waits once, without a loop.
__global__ void __cluster_dims__(2, 1, 1) wait_once(float* data) {
    __shared__ std::uint64_t arrived;
    if (threadIdx.x == 0) init(&arrived, 1);
    cluster_sync();
    arrive_in_block(&arrived, 1 - blockIdx.x);
    unsigned is_over;
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; "
        "selp.u32 %0, 1, 0, p; }"
        : "=r"(is_over)
        : "r"(shared_address(&arrived))
        : "memory");
    data[blockIdx.x] = static_cast<float>(is_over);
    cluster_sync();
}

/// The first block loads for the blocks of the mask, and ends.
__global__ void __cluster_dims__(2, 1, 1)
    load_for_another(const float* from, float* to, unsigned short blocks) {
    __shared__ std::uint64_t loaded;
    __shared__ alignas(16) float row[4];
    if (threadIdx.x == 0) {
        init(&loaded, 1);
        arrive_expecting(&loaded, sizeof row);
    }
    cluster_sync();
    if (blockIdx.x == 1) {
        wait(&loaded, 0);
        to[0] = row[2];
    } else {
        WGMMA(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
            "[%0], [%1], 16, [%2], %3;" ::"r"(shared_address(row)),
            "l"(from), "r"(shared_address(&loaded)), "h"(blocks) : "memory");
    }
}

/// Its destination is of the other block, and its mbarrier of its own.
__global__ void __cluster_dims__(2, 1, 1) load_beside_mbarrier(const float* from) {
    __shared__ std::uint64_t loaded;
    __shared__ alignas(16) float row[4];
    if (threadIdx.x == 0) init(&loaded, 1);
    cluster_sync();
    asm volatile(
        "{ .reg .b32 to; mapa.shared::cluster.u32 to, %0, %3; "
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [%1], 16, [%2]; "
        "}" ::"r"(shared_address(row)),
        "l"(from), "r"(shared_address(&loaded)), "r"(1 - blockIdx.x)
        : "memory");
    cluster_sync();
}
#else
__global__ void wait_once(float*) {}
__global__ void load_for_another(const float*, float*, unsigned short) {}
__global__ void load_beside_mbarrier(const float*) {}
#endif
LAUNCHER(waits_once_in_pair) { wait_once<<<2, 1>>>(call.data); }
LAUNCHER(loads_for_another) { load_for_another<<<2, 1>>>(call.data + 8, call.data, 2); }
LAUNCHER(loads_for_absent) { load_for_another<<<2, 1>>>(call.data + 8, call.data, 6); }
LAUNCHER(loads_beside_mbarrier) { load_beside_mbarrier<<<2, 1>>>(call.data); }
