// SPDX-License-Identifier: Apache-2.0
// libcu++'s cuda::std is the host's std, but for atomics, and for what a user may specialise there.
#pragma once
#pragma GCC system_header

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

#include "gradverify_simt/cuda_atomic.hpp"

namespace cuda::std {

using namespace ::std;

template <class T>
using atomic = ::cuda::atomic<T>;
template <class T>
using atomic_ref = ::cuda::atomic_ref<T>;
using ::cuda::atomic_thread_fence;

template <class T>
struct tuple_size : ::std::tuple_size<T> {};
template <size_t i, class T>
struct tuple_element : ::std::tuple_element<i, T> {};
template <class T>
inline constexpr size_t tuple_size_v = tuple_size<T>::value;
template <size_t i, class T>
using tuple_element_t = typename tuple_element<i, T>::type;

#if __cplusplus <= 201703L  // libcu++ has them in C++17
using ::gradverify::simt::unit::bit_cast;
template <class T>
using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;
template <class T>
using type_identity_t = ::gradverify::simt::unit::type_identity_t<T>;
#endif

}  // namespace cuda::std
