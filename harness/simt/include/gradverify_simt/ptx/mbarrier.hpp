// SPDX-License-Identifier: Apache-2.0
// mbarrier objects (PTX ISA, 9.7.13.15). The library (ptx/mbarrier.cpp) keeps them; a wait lets
// other threads run first.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/ptx/memory.hpp"

namespace gradverify::simt::ptx {

enum class MbarrierArrival { plain, no_complete, drop, drop_no_complete };

extern "C" {
void gradverify_simt_mbarrier_init(void* mbarrier, std::uint32_t count, const char* file, int line);
void gradverify_simt_mbarrier_inval(void* mbarrier, const char* file, int line);
void gradverify_simt_mbarrier_expect(void* mbarrier, std::uint32_t bytes, const char* file,
                                     int line);
void gradverify_simt_mbarrier_complete(void* mbarrier, std::uint32_t bytes, const char* file,
                                       int line);
std::uint64_t gradverify_simt_mbarrier_arrive(void* mbarrier, std::uint32_t count,
                                              std::uint32_t expected_bytes, MbarrierArrival kind,
                                              const char* file, int line, bool releases = true);
/// `suspends`: it is a try_wait, which is false where nothing can end the phase.
bool gradverify_simt_mbarrier_wait(void* mbarrier, bool phase, const char* file, int line,
                                   bool acquires = true, bool suspends = true);
bool gradverify_simt_mbarrier_wait_state(void* mbarrier, std::uint64_t state, const char* file,
                                         int line, bool acquires = true, bool suspends = true);
std::uint32_t gradverify_simt_mbarrier_pending(std::uint64_t state);
void gradverify_simt_mbarrier_arrive_copies(void* mbarrier, bool increments, const char* file,
                                            int line);
}

template <Space space>
GRADVERIFY_SIMT_ACCESS void* mbarrier_at(std::uint64_t address, const char* file, int line) {
    return memory_at<void, space>(address, 8, file, line);
}

/// 9.7.13.15.9 mbarrier.init and 9.7.13.15.10 mbarrier.inval.
template <Space space>
GRADVERIFY_SIMT_ACCESS void mbarrier_init(std::uint64_t at, std::uint32_t count,
                                          GRADVERIFY_SIMT_PLACE) {
    gradverify_simt_mbarrier_init(mbarrier_at<space>(at, file, line), count, file, line);
}
template <Space space>
GRADVERIFY_SIMT_ACCESS void mbarrier_inval(std::uint64_t at, GRADVERIFY_SIMT_PLACE) {
    gradverify_simt_mbarrier_inval(mbarrier_at<space>(at, file, line), file, line);
}
/// 9.7.13.15.11 mbarrier.expect_tx and 9.7.13.15.12 mbarrier.complete_tx.
template <Space space>
GRADVERIFY_SIMT_ACCESS void mbarrier_expect_tx(std::uint64_t at, std::uint32_t bytes,
                                               GRADVERIFY_SIMT_PLACE) {
    gradverify_simt_mbarrier_expect(mbarrier_at<space>(at, file, line), bytes, file, line);
}
template <Space space>
GRADVERIFY_SIMT_ACCESS void mbarrier_complete_tx(std::uint64_t at, std::uint32_t bytes,
                                                 GRADVERIFY_SIMT_PLACE) {
    gradverify_simt_mbarrier_complete(mbarrier_at<space>(at, file, line), bytes, file, line);
}
/// 9.7.13.15.13 mbarrier.arrive and 9.7.13.15.14 mbarrier.arrive_drop.
template <Space space, MbarrierArrival kind, bool releases = true>
GRADVERIFY_SIMT_ACCESS std::uint64_t mbarrier_arrive(std::uint64_t at, std::uint32_t count,
                                                     std::uint32_t expected_bytes,
                                                     GRADVERIFY_SIMT_PLACE) {
    return gradverify_simt_mbarrier_arrive(mbarrier_at<space>(at, file, line), count,
                                           expected_bytes, kind, file, line, releases);
}
/// 9.7.13.15.16 mbarrier.test_wait and mbarrier.try_wait, by parity and by an arrival's state.
template <Space space, bool suspends, bool acquires = true>
GRADVERIFY_SIMT_ACCESS bool mbarrier_wait_parity(std::uint64_t at, std::uint32_t parity,
                                                 GRADVERIFY_SIMT_PLACE) {
    return gradverify_simt_mbarrier_wait(mbarrier_at<space>(at, file, line), (parity & 1u) != 0,
                                         file, line, acquires, suspends);
}
template <Space space, bool suspends, bool acquires = true>
GRADVERIFY_SIMT_ACCESS bool mbarrier_wait_state(std::uint64_t at, std::uint64_t state,
                                                GRADVERIFY_SIMT_PLACE) {
    return gradverify_simt_mbarrier_wait_state(mbarrier_at<space>(at, file, line), state, file,
                                               line, acquires, suspends);
}
/// 9.7.13.15.17 mbarrier.pending_count.
inline std::uint32_t mbarrier_pending_count(std::uint64_t state) {
    return gradverify_simt_mbarrier_pending(state);
}
/// 9.7.13.15.15 cp.async.mbarrier.arrive.
template <Space space>
GRADVERIFY_SIMT_ACCESS void cp_async_mbarrier_arrive(std::uint64_t at, bool increments,
                                                     GRADVERIFY_SIMT_PLACE) {
    gradverify_simt_mbarrier_arrive_copies(mbarrier_at<space>(at, file, line), increments, file,
                                           line);
}

}  // namespace gradverify::simt::ptx
