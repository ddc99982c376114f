// SPDX-License-Identifier: Apache-2.0
// What CUB's primitives for blocks and warps share: operators, temporary storage, lanes.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/forced.hpp"

namespace cub {

#define GRADVERIFY_SIMT_OPERATOR(NAME, VALUE, ...)             \
    struct NAME {                                              \
        template <class A, class B>                            \
        __VA_ARGS__ operator()(const A& a, const B& b) const { \
            return VALUE;                                      \
        }                                                      \
    };
GRADVERIFY_SIMT_OPERATOR(Sum, a + b, auto)
GRADVERIFY_SIMT_OPERATOR(Difference, a - b, auto)
GRADVERIFY_SIMT_OPERATOR(Max, a < b ? b : a, std::common_type_t<A, B>)
GRADVERIFY_SIMT_OPERATOR(Min, b < a ? b : a, std::common_type_t<A, B>)
#undef GRADVERIFY_SIMT_OPERATOR
struct NullType {};

namespace gradverify_detail {
/// Of scans, exchanges and sorts of blocks, as in CUB: kernels lay storages behind each other.
constexpr std::size_t storage_alignment = 16;

/// A value for each thread; assigned to, not constructed, as shared memory is.
template <class T, int threads>
struct Values {
    alignas(T) unsigned char bytes[sizeof(T) * threads];
    T& operator[](int i) { return reinterpret_cast<T*>(bytes)[i]; }
};
inline int thread() { return static_cast<int>(gradverify::simt::unit::state.thread.rank); }
/// The mask of the `lanes` neighbouring lanes to which the running one belongs.
inline unsigned mask_of_part(int lanes) {
    return (lanes == 32 ? ~0u : (1u << lanes) - 1u) << thread() % 32 / lanes * lanes;
}
}  // namespace gradverify_detail

}  // namespace cub

// A file that wraps CUB's namespace, as by these macros of CUB's, finds ours there as well.
#if defined CUB_NS_PREFIX && defined CUB_NS_POSTFIX
CUB_NS_PREFIX namespace cub = ::cub;
CUB_NS_POSTFIX
#elif defined CUB_WRAPPED_NAMESPACE
namespace CUB_WRAPPED_NAMESPACE {
namespace cub = ::cub;
}
#endif
