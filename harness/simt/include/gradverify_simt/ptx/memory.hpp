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

enum class Space { generic, global, shared };

inline std::uint64_t address(std::uint64_t base, std::uint64_t offset = 0) { return base + offset; }

/// An address that knows the user's line, where a list of arguments has no end for it.
struct Address {
    std::uint64_t value;
    const char* file;
    int line;
    Address(std::uint64_t of, GRADVERIFY_SIMT_PLACE) : value(of), file(file), line(line) {}
};

/// The memory at an address, which must be a multiple of the access's size, and within its space.
template <class T, Space space>
inline T* memory_at(std::uint64_t address, std::size_t bytes, const char* file, int line) {
    constexpr int misaligned = 716, other_space = 717;
    if (address % bytes != 0) [[unlikely]]
        unit::gradverify_simt_trap(misaligned, "a misaligned address of inline PTX", file, line);
    if (space == Space::shared && !is_in_window(address)) [[unlikely]]
        unit::gradverify_simt_trap(other_space,
                                   "inline PTX names shared memory by an address that is not of it",
                                   file, line);
    if (space == Space::global && is_shared(address)) [[unlikely]]
        unit::gradverify_simt_trap(other_space,
                                   "inline PTX names global memory by an address of shared memory",
                                   file, line);
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

/// A loop that polls must let others run. The checked variant gives way at volatile accesses
/// anyway.
template <bool is_strong>
inline void before_load() {
    if constexpr (is_strong && !unit::is_checked) unit::yield_point();
}

template <class T, Space space, bool is_strong>
GRADVERIFY_SIMT_ACCESS auto ld_(std::uint64_t address, GRADVERIFY_SIMT_PLACE) {
    before_load<is_strong>();
    using Cell = std::conditional_t<is_strong, const volatile Bits<T>, const Bits<T>>;
    return extended<T>(*memory_at<Cell, space>(address, sizeof(Bits<T>), file, line));
}
/// A strong vector of up to 16 bytes is one access: numbers passed beside their flag rely on it.
template <class T, std::size_t count>
struct Vector {
    Bits<T> parts[count];
    static constexpr std::size_t bytes = count * sizeof(Bits<T>);
    using Whole = std::conditional_t<
        bytes == 16, unsigned __int128,
        std::conditional_t<bytes == 8, std::uint64_t,
                           std::conditional_t<bytes == 4, std::uint32_t, Bits<T>>>>;
};
template <class T, Space space, bool is_strong, class... Parts>
GRADVERIFY_SIMT_ACCESS void ld_vector(Address address, Parts&... parts) {
    using Vector = ptx::Vector<T, sizeof...(parts)>;
    using Whole = typename Vector::Whole;
    before_load<is_strong>();
    const auto take = [&](const Bits<T>* at) {
        ((parts = static_cast<Parts>(extended<T>(*at++))), ...);
    };
    if constexpr (is_strong && sizeof(Whole) == Vector::bytes) {
        const Whole whole = *memory_at<const volatile Whole, space>(address.value, Vector::bytes,
                                                                    address.file, address.line);
        take(unit::bit_cast<Vector>(whole).parts);
    } else {
        take(memory_at<const Bits<T>, space>(address.value, Vector::bytes, address.file,
                                             address.line));
    }
}
template <class T, Space space, bool is_strong, class... Parts>
GRADVERIFY_SIMT_ACCESS void st_(Address address, Parts... parts) {
    using Vector = ptx::Vector<T, sizeof...(parts)>;
    using Whole = typename Vector::Whole;
    if constexpr (is_strong && sizeof(Whole) == Vector::bytes) {
        *memory_at<volatile Whole, space>(address.value, Vector::bytes, address.file,
                                          address.line) =
            unit::bit_cast<Whole>(Vector{{static_cast<Bits<T>>(parts)...}});
    } else {
        auto* at =
            memory_at<Bits<T>, space>(address.value, Vector::bytes, address.file, address.line);
        ((*at++ = static_cast<Bits<T>>(parts)), ...);
    }
}

/// 9.7.13.4 membar and fence; the order of proxies is of asynchronous copies.
GRADVERIFY_SIMT_ACCESS void fence_() { __threadfence(); }
GRADVERIFY_SIMT_ACCESS void fence_of_block() { __threadfence_block(); }

/// 9.7.13.5 atom and 9.7.13.6 red.
template <class T, Space space, bool of_block, class Next>
GRADVERIFY_SIMT_ACCESS Bits<T> atomically(Address address, Next next) {
    auto* at =
        memory_at<Bits<T>, space>(address.value, sizeof(Bits<T>), address.file, address.line);
    return unit::update<of_block>(at, next);
}
#define GRADVERIFY_SIMT_ATOM(NAME, NEXT)                                                   \
    template <class T, Space space, bool of_block = false>                                 \
    GRADVERIFY_SIMT_ACCESS Bits<T> atom_##NAME(Address address, Bits<T> b) {               \
        return atomically<T, space, of_block>(address,                                     \
                                              [=](Bits<T> a) -> Bits<T> { return NEXT; }); \
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
template <class T, Space space, bool of_block = false>
GRADVERIFY_SIMT_ACCESS Bits<T> atom_cas(Address address, Bits<T> b, Bits<T> c) {
    return atomically<T, space, of_block>(address,
                                          [=](Bits<T> a) -> Bits<T> { return a == b ? c : a; });
}

}  // namespace gradverify::simt::ptx
