// SPDX-License-Identifier: Apache-2.0
// Scans over tiles and coalesced groups, by shuffles over doubling distances.
#pragma once
#pragma GCC system_header

#include "cooperative_groups/reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Op = plus<T>>
T inclusive_scan(const Group& group, T value, Op op = {}, GRADVERIFY_SIMT_PLACE) {
    for (unsigned step = 1; step < group.size(); step *= 2) {
        const T other = group.shfl_up(value, step, file, line);
        if (group.thread_rank() >= step) value = op(other, value);
    }
    return value;
}
/// The first member gets `T()`.
template <class Group, class T, class Op = plus<T>>
T exclusive_scan(const Group& group, T value, Op op = {}, GRADVERIFY_SIMT_PLACE) {
    const T before = group.shfl_up(inclusive_scan(group, value, op, file, line), 1, file, line);
    return group.thread_rank() == 0 ? T() : before;
}

}  // namespace cooperative_groups
