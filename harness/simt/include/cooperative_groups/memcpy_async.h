// SPDX-License-Identifier: Apache-2.0
// Copies by a group: each member begins a share, and the others may rely on it after `wait`. As in
// CUDA, a copy is asynchronous where it goes from global to shared memory in pieces of 4, 8 or 16
// bytes that are aligned, and else done at once.
#pragma once
#pragma GCC system_header

#include "cooperative_groups.h"

#include <cstddef>

#include "cuda_pipeline.h"

namespace cooperative_groups {

namespace gradverify_detail {
/// Bytes of one asynchronous piece; 0 where the copy can't be one.
inline std::size_t bytes_of_piece(const void* to, const void* from, std::size_t bytes) {
    namespace ptx = gradverify::simt::ptx;
    const auto begin = reinterpret_cast<std::uintptr_t>(to);
    const auto source = reinterpret_cast<std::uintptr_t>(from);
    if (!ptx::is_own_shared(begin) || ptx::is_shared(source)) return 0;
    for (const std::size_t piece : {16, 8, 4})
        if ((begin | source | bytes) % piece == 0) return piece;
    return 0;
}
}  // namespace gradverify_detail

template <class T>
GRADVERIFY_SIMT_ACCESS void memcpy_async(const auto& group, T* to, const T* from, std::size_t bytes,
                                         GRADVERIFY_SIMT_PLACE) {
    auto* const begin = reinterpret_cast<char*>(to);
    const auto* const source = reinterpret_cast<const char*>(from);
    const std::size_t piece = gradverify_detail::bytes_of_piece(to, from, bytes);
    const std::size_t step = piece == 0 ? 1 : piece;
    for (std::size_t at = group.thread_rank() * step; at < bytes; at += group.size() * step) {
        if (piece == 0)
            begin[at] = source[at];
        else
            __pipeline_memcpy_async(begin + at, source + at, piece, 0, file, line);
    }
    __pipeline_commit();
}
/// Copies as many elements as both have.
template <class T>
GRADVERIFY_SIMT_ACCESS void memcpy_async(const auto& group, T* to, std::size_t to_count,
                                         const T* from, std::size_t from_count,
                                         GRADVERIFY_SIMT_PLACE) {
    memcpy_async(group, to, from, (to_count < from_count ? to_count : from_count) * sizeof(T), file,
                 line);
}
/// For all copies of the group but the last `copies`.
template <unsigned copies>
void wait_prior(const auto& group, GRADVERIFY_SIMT_PLACE) {
    __pipeline_wait_prior(copies);
    group.sync(file, line);
}
void wait(const auto& group, GRADVERIFY_SIMT_PLACE) { wait_prior<0>(group, file, line); }

}  // namespace cooperative_groups
