// SPDX-License-Identifier: Apache-2.0
// What CUB's primitives for blocks and warps have in common: operators, temporary storage.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/forced.hpp"

namespace cub {

struct Sum {
    template <class T>
    T operator()(const T& a, const T& b) const {
        return a + b;
    }
};
struct Max {
    template <class T>
    T operator()(const T& a, const T& b) const {
        return a < b ? b : a;
    }
};
struct Min {
    template <class T>
    T operator()(const T& a, const T& b) const {
        return b < a ? b : a;
    }
};
struct NullType {};

namespace gradverify_detail {
/// A value for each thread; assigned to, not constructed, as shared memory is.
template <class T, int threads>
struct Values {
    alignas(T) unsigned char bytes[sizeof(T) * threads];
    T& operator[](int i) { return reinterpret_cast<T*>(bytes)[i]; }
};
inline int thread() { return static_cast<int>(gradverify::simt::unit::state.thread.rank); }
}  // namespace gradverify_detail

}  // namespace cub
