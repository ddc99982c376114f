// SPDX-License-Identifier: Apache-2.0
// Copies by a group: done at once, a share by each member, and known to the others after `wait`.
#pragma once
#pragma GCC system_header

#include "cooperative_groups.h"

#include <cstddef>

namespace cooperative_groups {

template <class Group, class T>
void memcpy_async(const Group& group, T* to, const T* from, std::size_t bytes) {
    for (std::size_t i = group.thread_rank(); i * sizeof(T) < bytes; i += group.size())
        to[i] = from[i];
}
/// Copies as many elements as both have.
template <class Group, class T>
void memcpy_async(const Group& group, T* to, std::size_t to_count, const T* from,
                  std::size_t from_count) {
    memcpy_async(group, to, from, (to_count < from_count ? to_count : from_count) * sizeof(T));
}
template <class Group>
void wait(const Group& group, GRADVERIFY_SIMT_PLACE) {
    group.sync(file, line);
}
template <unsigned stages, class Group>
void wait_prior(const Group& group, GRADVERIFY_SIMT_PLACE) {
    group.sync(file, line);
}

}  // namespace cooperative_groups
