// SPDX-License-Identifier: Apache-2.0
// Loads, stores, atomics, fences and addresses of PTX (PTX ISA, 9.7.9 and 9.7.13). Each access is
// the user's own, so that the race detector sees it on the user's line.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/atomics.hpp"
#include "gradverify_simt/ptx/floats.hpp"
#include "gradverify_simt/ptx/registers.hpp"
#include "gradverify_simt/ptx/shared_window.hpp"
#include "gradverify_simt/sync.hpp"

namespace gradverify::simt::ptx {

enum class Space { generic, shared };

inline std::uint64_t address(std::uint64_t base, std::uint64_t offset = 0) { return base + offset; }

/// The memory at an address, which must be a multiple of the access's size.
template <class T, Space space>
inline T* memory_at(std::uint64_t address, std::size_t bytes, const char* file, int line) {
    constexpr int misaligned = 716;
    if (address % bytes != 0) [[unlikely]]
        unit::gradverify_simt_trap(misaligned, "a misaligned address of inline PTX", file, line);
    if (space == Space::shared) address = from_shared(address);
    return reinterpret_cast<T*>(address);
}

/// A loaded number's register: integers are extended as their sign says.
template <class T>
inline auto extended(Bits<T> bits) {
    if constexpr (is_integer<T>)
        return static_cast<Value<T>>(bits);
    else
        return bits;
}

template <class T, Space space, bool is_strong>
GRADVERIFY_SIMT_ACCESS auto ld_(std::uint64_t address, GRADVERIFY_SIMT_PLACE) {
    if constexpr (is_strong) {
        // The checked variant gives way at each volatile access anyway.
        if constexpr (!unit::is_checked) unit::yield_point();
        const auto* at =
            memory_at<const volatile Bits<T>, space>(address, sizeof(Bits<T>), file, line);
        return extended<T>(*at);
    } else {
        const auto* at = memory_at<const Bits<T>, space>(address, sizeof(Bits<T>), file, line);
        return extended<T>(*at);
    }
}
template <class T, Space space, bool is_strong, class... Parts>
GRADVERIFY_SIMT_ACCESS void ld_vector(std::uint64_t address, Parts&... parts) {
    const auto* at = memory_at<const Bits<T>, space>(address, sizeof...(parts) * sizeof(Bits<T>),
                                                     __builtin_FILE(), __builtin_LINE());
    ((parts = static_cast<Parts>(extended<T>(*at++))), ...);
}
template <class T, Space space, bool is_strong, class... Parts>
GRADVERIFY_SIMT_ACCESS void st_(std::uint64_t address, Parts... parts) {
    using Cell = std::conditional_t<is_strong, volatile Bits<T>, Bits<T>>;
    auto* at = memory_at<Cell, space>(address, sizeof...(parts) * sizeof(Bits<T>), __builtin_FILE(),
                                      __builtin_LINE());
    ((*at++ = static_cast<Bits<T>>(parts)), ...);
}

/// 9.7.13.4 membar and fence; the order of proxies is of asynchronous copies.
GRADVERIFY_SIMT_ACCESS void fence_() { __threadfence(); }

/// 9.7.13.5 atom and 9.7.13.6 red.
template <class T, Space space, class Next>
GRADVERIFY_SIMT_ACCESS Bits<T> atomically(std::uint64_t address, Next next) {
    auto* at =
        memory_at<Bits<T>, space>(address, sizeof(Bits<T>), __builtin_FILE(), __builtin_LINE());
    return unit::update(at, next);
}
#define GRADVERIFY_SIMT_ATOM(NAME, NEXT)                                                  \
    template <class T, Space space>                                                       \
    GRADVERIFY_SIMT_ACCESS Bits<T> atom_##NAME(std::uint64_t address, Bits<T> b) {        \
        return atomically<T, space>(address, [=](Bits<T> a) -> Bits<T> { return NEXT; }); \
    }
GRADVERIFY_SIMT_ATOM(add, (add_<T, 0>(a, b)))
GRADVERIFY_SIMT_ATOM(min, (min_<T, 0>(a, b)))
GRADVERIFY_SIMT_ATOM(max, (max_<T, 0>(a, b)))
GRADVERIFY_SIMT_ATOM(and, (a & b))
GRADVERIFY_SIMT_ATOM(or, (a | b))
GRADVERIFY_SIMT_ATOM(xor, (a ^ b))
GRADVERIFY_SIMT_ATOM(exch, (static_cast<void>(a), b))
GRADVERIFY_SIMT_ATOM(inc, (a >= b ? 0 : a + 1))
GRADVERIFY_SIMT_ATOM(dec, (a == 0 || a > b ? b : a - 1))
#undef GRADVERIFY_SIMT_ATOM
template <class T, Space space>
GRADVERIFY_SIMT_ACCESS Bits<T> atom_cas(std::uint64_t address, Bits<T> b, Bits<T> c) {
    return atomically<T, space>(address, [=](Bits<T> a) -> Bits<T> { return a == b ? c : a; });
}

}  // namespace gradverify::simt::ptx
