// SPDX-License-Identifier: Apache-2.0
// The operators of cooperative groups' reductions and scans; `less` and `greater` give the smaller
// and the larger of two, as in CUDA.
#pragma once
#pragma GCC system_header

namespace cooperative_groups {

#define GRADVERIFY_SIMT_OPERATOR(NAME, VALUE)          \
    template <class T = void>                          \
    struct NAME {                                      \
        T operator()(T a, T b) const { return VALUE; } \
    };                                                 \
    template <>                                        \
    struct NAME<void> {                                \
        template <class T>                             \
        T operator()(T a, T b) const {                 \
            return VALUE;                              \
        }                                              \
    };
GRADVERIFY_SIMT_OPERATOR(plus, a + b)
GRADVERIFY_SIMT_OPERATOR(less, b < a ? b : a)
GRADVERIFY_SIMT_OPERATOR(greater, a < b ? b : a)
GRADVERIFY_SIMT_OPERATOR(bit_and, a& b)
GRADVERIFY_SIMT_OPERATOR(bit_or, a | b)
GRADVERIFY_SIMT_OPERATOR(bit_xor, a ^ b)
#undef GRADVERIFY_SIMT_OPERATOR

}  // namespace cooperative_groups
