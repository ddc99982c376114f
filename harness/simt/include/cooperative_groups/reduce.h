// SPDX-License-Identifier: Apache-2.0
// Reductions over tiles and coalesced groups, as a butterfly over ranks: a tile's sums are formed
// in the order of a shuffle reduction.
#pragma once
#pragma GCC system_header

#include "cooperative_groups.h"
#include "gradverify_simt/group_operators.hpp"

namespace cooperative_groups {

/// Every member gets the result.
template <class Group, class T, class Op>
T reduce(const Group& group, T value, Op op, GRADVERIFY_SIMT_PLACE) {
    const unsigned size = group.size();
    if ((size & (size - 1)) == 0) {
        for (unsigned step = size / 2; step > 0; step /= 2) {
            value = op(value, group.shfl_xor(value, step, file, line));
        }
        return value;
    }
    T total = group.shfl(value, 0, file, line);
    for (unsigned rank = 1; rank < size; ++rank) {
        total = op(total, group.shfl(value, rank, file, line));
    }
    return total;
}

}  // namespace cooperative_groups
