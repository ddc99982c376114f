// SPDX-License-Identifier: Apache-2.0
// Reductions over tiles and coalesced groups, in the order of a shuffle reduction.
#pragma once
#pragma GCC system_header

#include "cooperative_groups.h"

namespace cooperative_groups {

// As in CUDA, `less` and `greater` give the smaller and the larger of two.
#define GRADVERIFY_SIMT_OPERATOR(NAME, VALUE)                                   \
    template <class = void>                                                     \
    struct NAME {                                                               \
        template <class T>                                                      \
        T operator()(T a, gradverify::simt::unit::type_identity_t<T> b) const { \
            return VALUE;                                                       \
        }                                                                       \
    };
GRADVERIFY_SIMT_OPERATOR(plus, a + b)
GRADVERIFY_SIMT_OPERATOR(less, b < a ? b : a)
GRADVERIFY_SIMT_OPERATOR(greater, a < b ? b : a)
GRADVERIFY_SIMT_OPERATOR(bit_and, a& b)
GRADVERIFY_SIMT_OPERATOR(bit_or, a | b)
GRADVERIFY_SIMT_OPERATOR(bit_xor, a ^ b)
#undef GRADVERIFY_SIMT_OPERATOR

/// Every member gets the result.
template <class T>
T reduce(const auto& group, T value, auto op, GRADVERIFY_SIMT_PLACE) {
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
