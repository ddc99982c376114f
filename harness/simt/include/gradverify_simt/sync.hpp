// SPDX-License-Identifier: Apache-2.0
// Barriers, fences, votes and shuffles of CUDA C++, as calls of the executor. Widths and segments
// are decided here; the executor decides who waits for whom.
#pragma once
#pragma GCC system_header

#include <atomic>
#include <chrono>
#include <cstring>
#include <type_traits>

#include "gradverify_simt/state.hpp"

constexpr int warpSize = 32;

#define GRADVERIFY_SIMT_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE()

namespace gradverify::simt::unit {

inline unsigned lane() { return state.thread.rank % 32u; }

GRADVERIFY_SIMT_UNREPORTED inline std::uint64_t collective(WarpOp op, unsigned mask,
                                                           std::uint64_t value, const char* file,
                                                           int line, unsigned source_lane = 0) {
    gradverify_simt_warp_collective(op, mask, value, source_lane, file, line);
    return state.warp_results[state.thread.rank];
}

/// A shuffle of any trivially copyable type, eight bytes at a time.
template <class T>
T shuffle(unsigned mask, T value, unsigned source_lane, const char* file, int line) {
    static_assert(std::is_trivially_copyable_v<T>);
    T result = value;
    for (std::size_t at = 0; at < sizeof(T); at += 8) {
        const std::size_t bytes = sizeof(T) - at < 8 ? sizeof(T) - at : 8;
        std::uint64_t given = 0;
        std::memcpy(&given, reinterpret_cast<const char*>(&value) + at, bytes);
        const std::uint64_t got = collective(WarpOp::shuffle, mask, given, file, line, source_lane);
        std::memcpy(reinterpret_cast<char*>(&result) + at, &got, bytes);
    }
    return result;
}

template <class T>
std::uint64_t bits_of(T value) {
    static_assert(sizeof(T) <= 8);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
}

/// Lanes of one shuffle segment: [first, last].
struct Segment {
    unsigned first, last;
    explicit Segment(int width)
        : first(lane() & ~(static_cast<unsigned>(width) - 1u)),
          last(first + static_cast<unsigned>(width) - 1u) {}
};

}  // namespace gradverify::simt::unit

inline void __syncthreads(GRADVERIFY_SIMT_PLACE) {
    using namespace gradverify::simt::unit;
    if constexpr (is_checked) gradverify_simt_arrive(file, line);
    gradverify_simt_barrier(file, line);
}
#define GRADVERIFY_SIMT_BARRIER_VOTE(NAME, VOTE)                                       \
    inline int NAME(int predicate, GRADVERIFY_SIMT_PLACE) {                            \
        using namespace gradverify::simt::unit;                                        \
        return gradverify_simt_barrier_vote(BarrierVote::VOTE, predicate, file, line); \
    }
GRADVERIFY_SIMT_BARRIER_VOTE(__syncthreads_count, count)
GRADVERIFY_SIMT_BARRIER_VOTE(__syncthreads_and, all)
GRADVERIFY_SIMT_BARRIER_VOTE(__syncthreads_or, any)
#undef GRADVERIFY_SIMT_BARRIER_VOTE
inline void __syncwarp(unsigned mask = 0xffffffffu, GRADVERIFY_SIMT_PLACE) {
    using namespace gradverify::simt::unit;
    collective(WarpOp::sync, mask, 0, file, line);
}

// Threads interleave only at calls of the executor, so a fence has to stop the compiler alone.
namespace gradverify::simt::unit {
inline void fence(bool of_block) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if constexpr (is_checked) gradverify_simt_fence(of_block);
}
}  // namespace gradverify::simt::unit
inline void __threadfence() { gradverify::simt::unit::fence(false); }
inline void __threadfence_block() { gradverify::simt::unit::fence(true); }
inline void __threadfence_system() { __threadfence(); }

template <class T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, GRADVERIFY_SIMT_PLACE) {
    using namespace gradverify::simt::unit;
    const Segment segment(width);
    const unsigned from = static_cast<unsigned>(source) & (static_cast<unsigned>(width) - 1u);
    return shuffle(mask, value, segment.first + from, file, line);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                        GRADVERIFY_SIMT_PLACE) {
    using namespace gradverify::simt::unit;
    const Segment segment(width);
    const bool inside = lane() >= segment.first + delta && delta < 32;
    return shuffle(mask, value, inside ? lane() - delta : lane(), file, line);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                          GRADVERIFY_SIMT_PLACE) {
    using namespace gradverify::simt::unit;
    const Segment segment(width);
    const bool inside = delta < 32 && lane() + delta <= segment.last;
    return shuffle(mask, value, inside ? lane() + delta : lane(), file, line);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32,
                         GRADVERIFY_SIMT_PLACE) {
    using namespace gradverify::simt::unit;
    const Segment segment(width);
    const unsigned from = lane() ^ static_cast<unsigned>(lane_mask);
    return shuffle(mask, value, from <= segment.last ? from : lane(), file, line);
}

#define GRADVERIFY_SIMT_WARP_VOTE(NAME, T, OP)                                           \
    inline T NAME(unsigned mask, int predicate, GRADVERIFY_SIMT_PLACE) {                 \
        using namespace gradverify::simt::unit;                                          \
        return static_cast<T>(collective(WarpOp::OP, mask, predicate != 0, file, line)); \
    }
GRADVERIFY_SIMT_WARP_VOTE(__ballot_sync, unsigned, ballot)
GRADVERIFY_SIMT_WARP_VOTE(__any_sync, int, any)
GRADVERIFY_SIMT_WARP_VOTE(__all_sync, int, all)
#undef GRADVERIFY_SIMT_WARP_VOTE
/// All lanes that can reach this place before any of them goes on.
inline unsigned __activemask(GRADVERIFY_SIMT_PLACE) {
    using namespace gradverify::simt::unit;
    return static_cast<unsigned>(collective(WarpOp::active, 0xffffffffu, 0, file, line));
}

inline unsigned __match_any_sync(unsigned mask, auto value, GRADVERIFY_SIMT_PLACE) {
    using namespace gradverify::simt::unit;
    return static_cast<unsigned>(collective(WarpOp::match_any, mask, bits_of(value), file, line));
}
inline unsigned __match_all_sync(unsigned mask, auto value, int* predicate, GRADVERIFY_SIMT_PLACE) {
    using namespace gradverify::simt::unit;
    const auto got =
        static_cast<unsigned>(collective(WarpOp::match_all, mask, bits_of(value), file, line));
    *predicate = got != 0;
    return got;
}

#define GRADVERIFY_SIMT_REDUCE(NAME, T, OP)                                              \
    inline T NAME(unsigned mask, T value, GRADVERIFY_SIMT_PLACE) {                       \
        using namespace gradverify::simt::unit;                                          \
        return static_cast<T>(collective(WarpOp::OP, mask, bits_of(value), file, line)); \
    }
GRADVERIFY_SIMT_REDUCE(__reduce_add_sync, unsigned, reduce_add)
GRADVERIFY_SIMT_REDUCE(__reduce_add_sync, int, reduce_add)
GRADVERIFY_SIMT_REDUCE(__reduce_min_sync, unsigned, reduce_min_unsigned)
GRADVERIFY_SIMT_REDUCE(__reduce_min_sync, int, reduce_min_signed)
GRADVERIFY_SIMT_REDUCE(__reduce_max_sync, unsigned, reduce_max_unsigned)
GRADVERIFY_SIMT_REDUCE(__reduce_max_sync, int, reduce_max_signed)
GRADVERIFY_SIMT_REDUCE(__reduce_and_sync, unsigned, reduce_and)
GRADVERIFY_SIMT_REDUCE(__reduce_or_sync, unsigned, reduce_or)
GRADVERIFY_SIMT_REDUCE(__reduce_xor_sync, unsigned, reduce_xor)
#undef GRADVERIFY_SIMT_REDUCE

inline long long clock64() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
inline unsigned long long globaltimer() { return static_cast<unsigned long long>(clock64()); }
inline void __nanosleep(unsigned) { gradverify::simt::unit::gradverify_simt_yield(); }
[[noreturn]] inline void __trap(GRADVERIFY_SIMT_PLACE) {
    gradverify::simt::unit::gradverify_simt_trap(719, "__trap()", file, line);
}
inline void __brkpt() {}
