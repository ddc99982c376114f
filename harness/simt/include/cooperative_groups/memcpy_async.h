// SPDX-License-Identifier: Apache-2.0
// Copies by a group: each member copies a share at once; the others may rely on it after `wait`.
#pragma once
#pragma GCC system_header

#include "cooperative_groups.h"

#include <cstddef>

namespace cooperative_groups {

template <class T>
void memcpy_async(const auto& group, T* to, const T* from, std::size_t bytes) {
    for (std::size_t i = group.thread_rank(); i * sizeof(T) < bytes; i += group.size())
        to[i] = from[i];
}
/// Copies as many elements as both have.
template <class T>
void memcpy_async(const auto& group, T* to, std::size_t to_count, const T* from,
                  std::size_t from_count) {
    memcpy_async(group, to, from, (to_count < from_count ? to_count : from_count) * sizeof(T));
}
void wait(const auto& group, GRADVERIFY_SIMT_PLACE) { group.sync(file, line); }
template <unsigned stages>
void wait_prior(const auto& group, GRADVERIFY_SIMT_PLACE) {
    group.sync(file, line);
}

}  // namespace cooperative_groups
