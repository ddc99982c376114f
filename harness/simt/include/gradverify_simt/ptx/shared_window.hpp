// SPDX-License-Identifier: Apache-2.0
// Addresses within shared memory, which fit 32 bits: the rank of a block of the cluster, and a
// place in its two arenas or the unmapped pages beside them. They keep the pointer's lower bits, as
// swizzles need.
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
/// The windows of a block begin at multiples of this, by its rank.
constexpr std::uint64_t block_windows = 0x8000000;

inline std::uint64_t begin_of(const void* arena) {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(arena));
}

/// A pointer into a block's arenas as an address of its windows; any other stays.
inline std::uint64_t to_windows(std::uint64_t pointer, const unit::SharedBegin& begin,
                                unsigned rank) {
    const std::uint64_t in_static = pointer - begin_of(begin.static_arena);
    const std::uint64_t in_dynamic = pointer - begin_of(begin.dynamic_arena);
    if (in_static + unit::arena_zone_bytes < unit::arena_reach_bytes)
        return rank * block_windows + static_window + in_static;
    if (in_dynamic + unit::arena_zone_bytes < unit::arena_reach_bytes)
        return rank * block_windows + dynamic_window + in_dynamic;
    return pointer;
}
/// The same for every block of the cluster, the running one first.
inline std::uint64_t to_shared(std::uint64_t pointer) {
    const unit::State& state = unit::state;
    const std::uint64_t own =
        to_windows(pointer, {state.static_arena, state.dynamic_arena}, state.cluster_rank);
    if (own != pointer || state.cluster_size == 1) return own;
    for (unsigned rank = 0; rank < state.cluster_size; ++rank) {
        const std::uint64_t address = to_windows(pointer, state.cluster_shared[rank], rank);
        if (address != pointer) return address;
    }
    return pointer;
}
/// The rank of the block to which an address within shared memory belongs.
inline unsigned rank_of_shared(std::uint64_t address) {
    return static_cast<std::uint32_t>(address) / static_cast<std::uint32_t>(block_windows);
}
inline std::uint64_t from_shared(std::uint64_t address) {
    const unsigned rank = rank_of_shared(address);
    const unit::State& state = unit::state;
    if (rank >= state.cluster_size) return address;
    const auto window = static_cast<std::uint32_t>(address % block_windows);
    const unit::SharedBegin& begin = state.cluster_shared[rank];
    if (window - (static_window - window_reach / 2) < window_reach)
        return begin_of(begin.static_arena) + window - static_window;
    if (window - (dynamic_window - window_reach / 2) < window_reach)
        return begin_of(begin.dynamic_arena) + window - dynamic_window;
    return address;
}
inline bool is_in_window(std::uint64_t address) {
    return address >> 32 == 0 && from_shared(address) != address;
}
inline bool is_shared(std::uint64_t pointer) { return to_shared(pointer) != pointer; }
/// Whether a pointer lies in the running block's own shared memory.
inline bool is_own_shared(std::uint64_t pointer) {
    return is_shared(pointer) && rank_of_shared(to_shared(pointer)) == unit::state.cluster_rank;
}
/// The same place in the shared memory of another block of the cluster.
inline std::uint64_t of_block(std::uint64_t address, unsigned rank) {
    return address % block_windows + rank * block_windows;
}

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
