// SPDX-License-Identifier: Apache-2.0
// CUDA's atomic functions. Threads interleave only at calls of the executor, so a plain
// read-modify-write is atomic; at each one a spinning thread may give way.
#pragma once
#pragma GCC system_header

#include <type_traits>

#include "gradverify_simt/state.hpp"

namespace gradverify::simt::unit {

/// A thread that has done this many atomics in a row lets others run: a spin lock then ends.
constexpr int atomics_before_yield = 1024;
GRADVERIFY_SIMT_STATIC_TLS extern GRADVERIFY_SIMT_CONSTINIT thread_local int atomics_left;

/// Of no effect where a constant is made.
constexpr inline void yield_point() {
    if (__builtin_is_constant_evaluated()) return;
    if (--atomics_left <= 0) [[unlikely]]
        gradverify_simt_yield();
}

/// `volatile`, so that a loop that waits for another thread reads memory each time. Of the scope of
/// the block, it is atomic among the block's threads alone.
template <bool of_block = false, class T, class Update>
GRADVERIFY_SIMT_UNREPORTED T update(T* address, Update next) {
    yield_point();
    if constexpr (is_checked)
        gradverify_simt_atomic(address, sizeof(T), __builtin_return_address(0), of_block);
    volatile T* cell = address;
    const T old = *cell;
    *cell = next(old);
    return old;
}

}  // namespace gradverify::simt::unit

#define GRADVERIFY_SIMT_ATOMIC(NAME, T, NEXT)                                                     \
    GRADVERIFY_SIMT_ACCESS T NAME(T* address, T value) {                                          \
        return ::gradverify::simt::unit::update(address, [&](T old) -> T { return NEXT; });       \
    }                                                                                             \
    GRADVERIFY_SIMT_ACCESS T NAME##_block(T* address, T value) {                                  \
        return ::gradverify::simt::unit::update<true>(address, [&](T old) -> T { return NEXT; }); \
    }                                                                                             \
    GRADVERIFY_SIMT_ACCESS T NAME##_system(T* address, T value) { return NAME(address, value); }
#define GRADVERIFY_SIMT_ATOMIC_INTEGERS(NAME, NEXT)  \
    GRADVERIFY_SIMT_ATOMIC(NAME, int, NEXT)          \
    GRADVERIFY_SIMT_ATOMIC(NAME, unsigned int, NEXT) \
    GRADVERIFY_SIMT_ATOMIC(NAME, unsigned long long, NEXT)

GRADVERIFY_SIMT_ATOMIC(atomicAdd, int, static_cast<int>(unsigned(old) + unsigned(value)))
GRADVERIFY_SIMT_ATOMIC(atomicAdd, unsigned int, old + value)
GRADVERIFY_SIMT_ATOMIC(atomicAdd, unsigned long long, old + value)
GRADVERIFY_SIMT_ATOMIC(atomicAdd, float, old + value)
GRADVERIFY_SIMT_ATOMIC(atomicAdd, double, old + value)
GRADVERIFY_SIMT_ATOMIC(atomicSub, int, static_cast<int>(unsigned(old) - unsigned(value)))
GRADVERIFY_SIMT_ATOMIC(atomicSub, unsigned int, old - value)
GRADVERIFY_SIMT_ATOMIC_INTEGERS(atomicExch, ((void)old, value))
GRADVERIFY_SIMT_ATOMIC(atomicExch, float, ((void)old, value))
GRADVERIFY_SIMT_ATOMIC_INTEGERS(atomicMin, value < old ? value : old)
GRADVERIFY_SIMT_ATOMIC(atomicMin, long long, value < old ? value : old)
GRADVERIFY_SIMT_ATOMIC_INTEGERS(atomicMax, value > old ? value : old)
GRADVERIFY_SIMT_ATOMIC(atomicMax, long long, value > old ? value : old)
GRADVERIFY_SIMT_ATOMIC_INTEGERS(atomicAnd, old& value)
GRADVERIFY_SIMT_ATOMIC_INTEGERS(atomicOr, old | value)
GRADVERIFY_SIMT_ATOMIC_INTEGERS(atomicXor, old ^ value)
GRADVERIFY_SIMT_ATOMIC(atomicInc, unsigned int, old >= value ? 0u : old + 1u)
GRADVERIFY_SIMT_ATOMIC(atomicDec, unsigned int, (old == 0u || old > value) ? value : old - 1u)
#undef GRADVERIFY_SIMT_ATOMIC_INTEGERS
#undef GRADVERIFY_SIMT_ATOMIC

#define GRADVERIFY_SIMT_CAS_OF(SUFFIX, OF_BLOCK, T)                              \
    GRADVERIFY_SIMT_ACCESS T atomicCAS##SUFFIX(T* address, T compare, T value) { \
        return ::gradverify::simt::unit::update<OF_BLOCK>(                       \
            address, [&](T old) -> T { return old == compare ? value : old; });  \
    }
#define GRADVERIFY_SIMT_CAS(T)              \
    GRADVERIFY_SIMT_CAS_OF(, false, T)      \
    GRADVERIFY_SIMT_CAS_OF(_block, true, T) \
    GRADVERIFY_SIMT_CAS_OF(_system, false, T)
GRADVERIFY_SIMT_CAS(int)
GRADVERIFY_SIMT_CAS(unsigned int)
GRADVERIFY_SIMT_CAS(unsigned long long)
GRADVERIFY_SIMT_CAS(unsigned short)
#undef GRADVERIFY_SIMT_CAS_OF
#undef GRADVERIFY_SIMT_CAS

GRADVERIFY_SIMT_ACCESS float2 atomicAdd(float2* address, float2 value) {
    return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};
}
GRADVERIFY_SIMT_ACCESS float4 atomicAdd(float4* address, float4 value) {
    return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y),
            atomicAdd(&address->z, value.z), atomicAdd(&address->w, value.w)};
}

// Caching loads and stores: the CPU has one kind.
#define GRADVERIFY_SIMT_LOAD(NAME)                    \
    template <class T>                                \
    GRADVERIFY_SIMT_ACCESS T NAME(const T* address) { \
        return *address;                              \
    }
GRADVERIFY_SIMT_LOAD(__ldg)
GRADVERIFY_SIMT_LOAD(__ldcg)
GRADVERIFY_SIMT_LOAD(__ldca)
GRADVERIFY_SIMT_LOAD(__ldcs)
GRADVERIFY_SIMT_LOAD(__ldlu)
GRADVERIFY_SIMT_LOAD(__ldcv)
#undef GRADVERIFY_SIMT_LOAD
#define GRADVERIFY_SIMT_STORE(NAME)                                                      \
    template <class T>                                                                   \
    GRADVERIFY_SIMT_ACCESS void NAME(T* address,                                         \
                                     gradverify::simt::unit::type_identity_t<T> value) { \
        *address = value;                                                                \
    }
GRADVERIFY_SIMT_STORE(__stwb)
GRADVERIFY_SIMT_STORE(__stcg)
GRADVERIFY_SIMT_STORE(__stcs)
GRADVERIFY_SIMT_STORE(__stwt)
#undef GRADVERIFY_SIMT_STORE
