// SPDX-License-Identifier: Apache-2.0
// cp.async and its groups (PTX ISA, 9.7.9.25.3). The library (ptx/cp_async.cpp) does a copy as
// early as it may, or as late, by the schedule.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/ptx/memory.hpp"

namespace gradverify::simt::ptx {

extern "C" {
/// Copies `source_bytes` and zeros behind them; `pc` names the user's line.
void gradverify_simt_copy_async(void* to, const void* from, unsigned bytes, unsigned source_bytes);
void gradverify_simt_copy_async_commit();
/// Waits for all committed groups of the thread but the last `groups`.
void gradverify_simt_copy_async_wait(unsigned groups);
/// Waits for the copies that are not committed, too.
void gradverify_simt_copy_async_wait_all();
}

/// The third operand is a number of bytes, or whether to ignore the source.
template <class Third = std::uint32_t>
GRADVERIFY_SIMT_ACCESS void cp_async(std::uint64_t to, std::uint64_t from, std::uint32_t bytes,
                                     Third third, GRADVERIFY_SIMT_PLACE) {
    constexpr int illegal_instruction = 715;
    if (bytes != 4 && bytes != 8 && bytes != 16) [[unlikely]]
        unit::gradverify_simt_trap(illegal_instruction, "cp.async of other than 4, 8 or 16 bytes",
                                   file, line);
    std::uint32_t source_bytes = bytes;
    if constexpr (std::is_same_v<Third, bool>)
        source_bytes = third ? 0 : bytes;
    else
        source_bytes = third;
    if (source_bytes > bytes) [[unlikely]]
        unit::gradverify_simt_trap(illegal_instruction, "cp.async of more bytes than its size",
                                   file, line);
    gradverify_simt_copy_async(memory_at<void, Space::shared>(to, bytes, file, line),
                               memory_at<const void, Space::global>(from, bytes, file, line), bytes,
                               source_bytes);
}
GRADVERIFY_SIMT_ACCESS void cp_async(std::uint64_t to, std::uint64_t from, std::uint32_t bytes,
                                     GRADVERIFY_SIMT_PLACE) {
    cp_async(to, from, bytes, bytes, file, line);
}
template <class... Third>
GRADVERIFY_SIMT_ACCESS void cp_async_cg(Address to, std::uint64_t from, std::uint32_t bytes,
                                        Third... third) {
    constexpr int illegal_instruction = 715;
    if (bytes != 16) [[unlikely]]
        unit::gradverify_simt_trap(illegal_instruction, "cp.async.cg of other than 16 bytes",
                                   to.file, to.line);
    if constexpr (sizeof...(third) == 0)
        cp_async(to.value, from, bytes, to.file, to.line);
    else
        cp_async<Third...>(to.value, from, bytes, third..., to.file, to.line);
}
inline void cp_async_commit() { gradverify_simt_copy_async_commit(); }
inline void cp_async_wait(std::uint32_t groups) { gradverify_simt_copy_async_wait(groups); }
inline void cp_async_wait_all() { gradverify_simt_copy_async_wait_all(); }

}  // namespace gradverify::simt::ptx
