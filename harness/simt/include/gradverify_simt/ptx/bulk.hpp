// SPDX-License-Identifier: Apache-2.0
// Bulk copies and reductions of the asynchronous proxy and their groups (PTX ISA, 9.7.9.25.4), and
// its fence. The library (ptx/bulk.cpp) does them as early as it may, or as late.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/ptx/mbarrier.hpp"

namespace gradverify::simt::ptx {

enum class BulkOperation { add, min, max, and_, or_, xor_, inc, dec };
enum class BulkType { u32, s32, u64, s64, b32, b64, f16, bf16, f32, f64 };

extern "C" {
/// Completes at the mbarrier, or without one in the thread's group.
void gradverify_simt_copy_bulk(void* to, const void* from, std::uint32_t bytes, void* mbarrier,
                               const char* file, int line);
/// The same in each block of the cluster whose bit is set.
void gradverify_simt_multicast_bulk(void* to, const void* from, std::uint32_t bytes, void* mbarrier,
                                    std::uint32_t blocks, const char* file, int line);
void gradverify_simt_reduce_bulk(void* to, const void* from, std::uint32_t bytes,
                                 BulkOperation operation, BulkType type, const char* file,
                                 int line);
void gradverify_simt_bulk_commit();
void gradverify_simt_bulk_wait(std::uint32_t groups, bool reads_only);
/// Orders the thread's own accesses before later ones of these kinds, a bit each.
void gradverify_simt_fence_proxy(unsigned accesses);
}

/// 9.7.9.25.4.1 cp.async.bulk to shared memory, of several blocks too, and from it.
template <Space source>
GRADVERIFY_SIMT_ACCESS void cp_async_bulk_load(std::uint64_t to, std::uint64_t from,
                                               std::uint32_t bytes, std::uint64_t mbarrier,
                                               GRADVERIFY_SIMT_PLACE) {
    gradverify_simt_copy_bulk(memory_at<void, Space::shared>(to, 16, file, line),
                              memory_at<const void, source>(from, 16, file, line), bytes,
                              mbarrier_at<Space::shared>(mbarrier, file, line), file, line);
}
GRADVERIFY_SIMT_ACCESS void cp_async_bulk_multicast(std::uint64_t to, std::uint64_t from,
                                                    std::uint32_t bytes, std::uint64_t mbarrier,
                                                    std::uint16_t blocks, GRADVERIFY_SIMT_PLACE) {
    gradverify_simt_multicast_bulk(memory_at<void, Space::shared>(to, 16, file, line),
                                   memory_at<const void, Space::global>(from, 16, file, line),
                                   bytes, mbarrier_at<Space::shared>(mbarrier, file, line), blocks,
                                   file, line);
}
GRADVERIFY_SIMT_ACCESS void cp_async_bulk_store(std::uint64_t to, std::uint64_t from,
                                                std::uint32_t bytes, GRADVERIFY_SIMT_PLACE) {
    gradverify_simt_copy_bulk(memory_at<void, Space::global>(to, 16, file, line),
                              memory_at<const void, Space::shared>(from, 16, file, line), bytes,
                              nullptr, file, line);
}
/// 9.7.9.25.4.2 cp.reduce.async.bulk from shared memory.
template <BulkOperation operation, BulkType type>
GRADVERIFY_SIMT_ACCESS void cp_reduce_async_bulk(std::uint64_t to, std::uint64_t from,
                                                 std::uint32_t bytes, GRADVERIFY_SIMT_PLACE) {
    gradverify_simt_reduce_bulk(memory_at<void, Space::global>(to, 16, file, line),
                                memory_at<const void, Space::shared>(from, 16, file, line), bytes,
                                operation, type, file, line);
}
/// 9.7.9.25.4.4 cp.async.bulk.commit_group and 9.7.9.25.4.5 cp.async.bulk.wait_group.
inline void cp_async_bulk_commit() { gradverify_simt_bulk_commit(); }
inline void cp_async_bulk_wait(std::uint32_t groups, bool reads_only) {
    gradverify_simt_bulk_wait(groups, reads_only);
}

/// What a fence of proxies orders: the asynchronous proxy's accesses of a space, or of tensor maps.
enum ProxyAccesses : unsigned { async_shared = 1, async_global = 2, tensor_maps = 4 };
/// 9.7.13.4 fence.proxy.async, and fence.proxy.tensormap::generic.release.
template <unsigned accesses = async_shared | async_global>
GRADVERIFY_SIMT_ACCESS void fence_proxy() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if constexpr (unit::is_checked) gradverify_simt_fence_proxy(accesses);
}
GRADVERIFY_SIMT_ACCESS void fence_proxy_async() { fence_proxy(); }

}  // namespace gradverify::simt::ptx
