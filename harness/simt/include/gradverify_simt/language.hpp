// SPDX-License-Identifier: Apache-2.0
// What our headers use of C++20, for files that are compiled as C++17. Only g++ can do that, with
// -fconcepts, which leaves `concept` and `requires` keywords. The names of std stay C++17's.
#pragma once
#pragma GCC system_header

namespace gradverify::simt::unit {

template <class T>
struct TypeIdentity {
    using type = T;
};
template <class T>
using type_identity_t = typename TypeIdentity<T>::type;

template <class To, class From>
constexpr To bit_cast(const From& from) {
    return __builtin_bit_cast(To, from);
}

}  // namespace gradverify::simt::unit

#ifdef __cpp_constinit
#define GRADVERIFY_SIMT_CONSTINIT constinit
#else
#define GRADVERIFY_SIMT_CONSTINIT __constinit
#endif
