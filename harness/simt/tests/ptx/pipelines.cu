// SPDX-License-Identifier: Apache-2.0
// TMA, mbarriers and wgmma together, in a block and in pairs of blocks, and bulk copies between the
// blocks of a cluster.
#include "harness/simt/tests/construct.hpp"
#include "harness/simt/tests/ptx/gemm_pipeline.hpp"

namespace {

__global__ void ask_for_wgmma(int* has) { WGMMA("mov.u32 %0, 1;" : "=r"(*has)); }
bool has_wgmma() {
    Array<int> has(1);
    ask_for_wgmma<<<1, 1>>>(has);
    return has.host()[0] != 0;
}

CONSTRUCT(pipeline_of_tma_and_wgmma) {
    report.holds("each element, if it is there", !has_wgmma() || wrong_elements<false>() == 0);
}
CONSTRUCT(pipeline_of_two_blocks) {
    report.holds("each element, if it is there", !has_wgmma() || wrong_elements<true>() == 0);
}

#if !defined(__NVCC__) || !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/// Each block hands its row to the next one, and the first block loads a row for blocks 0, 1 and 3.
__global__ void __cluster_dims__(4, 1, 1) hand_on(const int* rows, int* out) {
    __shared__ std::uint64_t handed_on, loaded;
    __shared__ alignas(16) int own[32], from_before[32], of_all[32];
    const unsigned i = threadIdx.x, rank = blockIdx.x % 4;
    own[i] = rows[blockIdx.x * 32 + i];
    of_all[i] = -1;
    fence_proxy();
    if (i == 0) {
        init(&handed_on, 1);
        init(&loaded, 1);
        fence_init();
        arrive_expecting(&handed_on, 128);
        arrive_expecting(&loaded, rank == 2 ? 0 : 128);
    }
    __syncthreads();
    cluster_sync();
    if (i == 0) {
        asm volatile(
            "{ .reg .b32 to, mbarrier; mapa.shared::cluster.u32 to, %0, %3; "
            "mapa.shared::cluster.u32 mbarrier, %2, %3; "
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [to], [%1], "
            "128, [mbarrier]; }" ::"r"(shared_address(from_before)),
            "r"(shared_address(own)), "r"(shared_address(&handed_on)), "r"((rank + 1) % 4)
            : "memory");
        if (rank == 0)
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                ".multicast::cluster [%0], [%1], 128, [%2], %3;" ::"r"(shared_address(of_all)),
                "l"(rows + blockIdx.x * 32), "r"(shared_address(&loaded)),
                "h"(static_cast<unsigned short>(0b1011))
                : "memory");
    }
    wait(&handed_on, 0);
    wait(&loaded, 0);
    out[blockIdx.x * 32 + i] = from_before[i] * 1000 + of_all[i];
    cluster_sync();
}
#else
__global__ void hand_on(const int*, int*) {}
#endif
CONSTRUCT(bulk_copies_between_blocks) {
    const Array<int> rows(table(8 * 32, [](int i) { return i; })), out(8 * 32);
    hand_on<<<8, 32>>>(rows, out);
    report.equal("out", out.host(), [](int i) {
        const int block = i / 32, before = block / 4 * 4 + (block + 3) % 4;
        const int of_all = block % 4 == 2 ? -1 : block / 4 * 128 + i % 32;
        return (before * 32 + i % 32) * 1000 + of_all;
    });
}

}  // namespace
