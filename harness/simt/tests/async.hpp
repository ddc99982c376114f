// SPDX-License-Identifier: Apache-2.0
// Inline PTX of mbarriers and bulk groups, as the constructs of the asynchronous proxy use it.
#pragma once

#include <cstdint>

namespace {

[[maybe_unused]] __device__ unsigned shared_address(const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
[[maybe_unused]] __device__ void init(std::uint64_t* mbarrier, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(mbarrier)),
                 "r"(count));
}
[[maybe_unused]] __device__ void fence_init() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
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
        "{\n\t"
        ".reg .pred p;\n\t"
        "again:\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n\t"
        "@p bra done;\n\t"
        "bra again;\n\t"
        "done:\n\t"
        "}" ::"r"(shared_address(mbarrier)),
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
