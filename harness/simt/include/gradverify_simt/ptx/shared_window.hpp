// SPDX-License-Identifier: Apache-2.0
// Addresses within shared memory, which fit 32 bits: a place in the block's two arenas, and the
// unmapped pages beside them. They keep the pointer's lower bits, as swizzles need.
#pragma once
#pragma GCC system_header

#include <cstddef>
#include <cstdint>

#include "gradverify_simt/state.hpp"

namespace gradverify::simt::ptx {

/// The window of an arena begins here; addresses next to it are next to the arena.
/// Matrix descriptors hold their lower 18 bits: those of the dynamic array end with these bits, so
/// that the two overlap only where a block has more than a GPU has.
constexpr std::uint64_t static_window = 0x2000000, dynamic_window = 0x4007000;
constexpr std::uint64_t window_reach = 0x1000000;
constexpr unsigned descriptor_bits = 0x3ffff;

inline std::uint64_t begin_of(const void* arena) {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(arena));
}

/// A pointer of any space within its arena's window; one that is not shared stays.
inline std::uint64_t to_shared(std::uint64_t pointer) {
    const std::uint64_t in_static = pointer - begin_of(unit::state.static_arena);
    const std::uint64_t in_dynamic = pointer - begin_of(unit::state.dynamic_arena);
    if (in_static + unit::arena_zone_bytes < unit::arena_reach_bytes)
        return static_window + in_static;
    if (in_dynamic + unit::arena_zone_bytes < unit::arena_reach_bytes)
        return dynamic_window + in_dynamic;
    return pointer;
}
inline bool is_in_window(std::uint64_t address) {
    return address - (static_window - window_reach / 2) < window_reach ||
           address - (dynamic_window - window_reach / 2) < window_reach;
}
inline std::uint64_t from_shared(std::uint64_t address) {
    const auto window = static_cast<std::uint32_t>(address);
    if (window - (static_window - window_reach / 2) < window_reach)
        return begin_of(unit::state.static_arena) + window - static_window;
    if (window - (dynamic_window - window_reach / 2) < window_reach)
        return begin_of(unit::state.dynamic_arena) + window - dynamic_window;
    return address;
}
inline bool is_shared(std::uint64_t pointer) { return to_shared(pointer) != pointer; }

}  // namespace gradverify::simt::ptx

inline std::size_t __cvta_generic_to_shared(const void* p) {
    return gradverify::simt::ptx::to_shared(reinterpret_cast<std::uintptr_t>(p));
}
inline void* __cvta_shared_to_generic(std::size_t address) {
    return reinterpret_cast<void*>(gradverify::simt::ptx::from_shared(address));
}
inline unsigned __isShared(const void* p) {
    return gradverify::simt::ptx::is_shared(reinterpret_cast<std::uintptr_t>(p));
}
inline unsigned __isGlobal(const void* p) { return 1u - __isShared(p); }
