// SPDX-License-Identifier: Apache-2.0
// Inline PTX of mbarriers and bulk groups, as the constructs of the asynchronous proxy use it, and
// whether there are products of warpgroups.
#pragma once

#include <cstdint>

// Compiled for sm_90a alone, and by the CPU device.
#if !defined(__NVCC__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define WGMMA(...) asm volatile(__VA_ARGS__)
#else
#define WGMMA(...)
#endif

namespace {

[[maybe_unused]] __device__ unsigned shared_address(const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
/// Seen by the asynchronous proxy, and by the cluster.
[[maybe_unused]] __device__ void init(std::uint64_t* mbarrier, unsigned count) {
    asm volatile(
        "mbarrier.init.shared::cta.b64 [%0], %1; fence.mbarrier_init.release.cluster;" ::"r"(
            shared_address(mbarrier)),
        "r"(count)
        : "memory");
}
[[maybe_unused]] __device__ void arrive(std::uint64_t* mbarrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(mbarrier))
                 : "memory");
}
[[maybe_unused]] __device__ void arrive_expecting(std::uint64_t* mbarrier, unsigned bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(mbarrier)),
        "r"(bytes)
        : "memory");
}
[[maybe_unused]] __device__ void wait(std::uint64_t* mbarrier, unsigned parity) {
    asm volatile(
        "{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; "
        "@!p bra again; }" ::"r"(shared_address(mbarrier)),
        "r"(parity)
        : "memory");
}
[[maybe_unused]] __device__ void fence_proxy() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
[[maybe_unused]] __device__ void commit() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
[[maybe_unused]] __device__ void wait_for_stores() {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

}  // namespace
