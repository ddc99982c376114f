// SPDX-License-Identifier: Apache-2.0
// What threads of a warp or block do together (PTX ISA, 9.7.13), and the special registers (10).
#pragma once
#pragma GCC system_header

#include "gradverify_simt/ptx/registers.hpp"
#include "gradverify_simt/sync.hpp"

namespace gradverify::simt::ptx {

extern "C" {
/// Barrier `id` of the block for `count` threads, 0 for all of them. A thread that only arrives
/// goes on at once.
void gradverify_simt_named_barrier(unsigned id, unsigned count, bool waits, const char* file,
                                   int line);
}

/// 9.7.9.6 shfl.sync: `c` holds the segment's mask above the lane that bounds it.
struct ShuffleSegment {
    unsigned lane, first, last;
    explicit ShuffleSegment(std::uint32_t c) : lane(unit::lane()) {
        const unsigned mask = c >> 8 & 31u, bound = c & 31u;
        first = lane & mask;
        last = first | (bound & ~mask);
    }
};
inline std::uint32_t shuffled(std::uint32_t a, unsigned source, bool inside, std::uint32_t members,
                              bool* p, unsigned lane, const char* file, int line) {
    if (p != nullptr) *p = inside;
    return unit::shuffle(members, a, inside ? source : lane, file, line);
}
#define GRADVERIFY_SIMT_SHFL(NAME, SOURCE, INSIDE)                                            \
    inline std::uint32_t shfl_##NAME(std::uint32_t a, std::uint32_t b, std::uint32_t c,       \
                                     std::uint32_t members, bool* p, GRADVERIFY_SIMT_PLACE) { \
        const ShuffleSegment of(c);                                                           \
        b &= 31u;                                                                             \
        const unsigned source = SOURCE;                                                       \
        return shuffled(a, source, INSIDE, members, p, of.lane, file, line);                  \
    }
GRADVERIFY_SIMT_SHFL(up, of.lane - b, (static_cast<int>(source) >= static_cast<int>(of.last)))
GRADVERIFY_SIMT_SHFL(down, of.lane + b, (source <= of.last))
GRADVERIFY_SIMT_SHFL(bfly, of.lane ^ b, (source <= of.last))
GRADVERIFY_SIMT_SHFL(idx, (of.first | (b & ~(c >> 8 & 31u))), (source <= of.last))
#undef GRADVERIFY_SIMT_SHFL

/// 9.7.13.9 vote.sync.
inline bool vote_all(bool a, std::uint32_t members, GRADVERIFY_SIMT_PLACE) {
    return __all_sync(members, a, file, line) != 0;
}
inline bool vote_any(bool a, std::uint32_t members, GRADVERIFY_SIMT_PLACE) {
    return __any_sync(members, a, file, line) != 0;
}
inline bool vote_uni(bool a, std::uint32_t members, GRADVERIFY_SIMT_PLACE) {
    const bool all = vote_all(a, members, file, line);
    return all || !vote_any(a, members, file, line);
}
inline std::uint32_t vote_ballot(bool a, std::uint32_t members, GRADVERIFY_SIMT_PLACE) {
    return __ballot_sync(members, a, file, line);
}
/// 9.7.13.10 match.sync.
template <class T>
inline std::uint32_t match_any(Bits<T> a, std::uint32_t members, GRADVERIFY_SIMT_PLACE) {
    return __match_any_sync(members, a, file, line);
}
template <class T>
inline std::uint32_t match_all(Bits<T> a, std::uint32_t members, bool* p, GRADVERIFY_SIMT_PLACE) {
    int all = 0;
    const std::uint32_t equal = __match_all_sync(members, a, &all, file, line);
    if (p != nullptr) *p = all != 0;
    return equal;
}
/// 9.7.13.12 redux.sync.
#define GRADVERIFY_SIMT_REDUX(NAME)                                                 \
    template <class T>                                                              \
    inline std::uint32_t redux_##NAME(std::uint32_t a, std::uint32_t members,       \
                                      GRADVERIFY_SIMT_PLACE) {                      \
        return static_cast<std::uint32_t>(                                          \
            __reduce_##NAME##_sync(members, static_cast<Value<T>>(a), file, line)); \
    }
GRADVERIFY_SIMT_REDUX(add)
GRADVERIFY_SIMT_REDUX(min)
GRADVERIFY_SIMT_REDUX(max)
GRADVERIFY_SIMT_REDUX(and)
GRADVERIFY_SIMT_REDUX(or)
GRADVERIFY_SIMT_REDUX(xor)
#undef GRADVERIFY_SIMT_REDUX
/// 9.7.13.14 elect.sync: the lowest lane of the mask.
inline std::uint32_t elect_sync(std::uint32_t members, bool* p, GRADVERIFY_SIMT_PLACE) {
    const std::uint32_t there = __ballot_sync(members, 1, file, line);
    const auto leader = static_cast<std::uint32_t>(__builtin_ctz(there));
    if (p != nullptr) *p = leader == unit::lane();
    return leader;
}

/// 9.7.13.1 bar.sync and bar.arrive; barrier 0 for the whole block is __syncthreads().
inline void bar_sync(std::uint32_t id, std::uint32_t count = 0, GRADVERIFY_SIMT_PLACE) {
    const unsigned all =
        unit::state.block_dim.x * unit::state.block_dim.y * unit::state.block_dim.z;
    if (id == 0 && (count == 0 || count == all)) return __syncthreads(file, line);
    gradverify_simt_named_barrier(id, count, true, file, line);
}
inline void bar_arrive(std::uint32_t id, std::uint32_t count, GRADVERIFY_SIMT_PLACE) {
    gradverify_simt_named_barrier(id, count, false, file, line);
}

#define GRADVERIFY_SIMT_REGISTER(NAME, T, VALUE) \
    inline T register_##NAME() { return static_cast<T>(VALUE); }
#define GRADVERIFY_SIMT_REGISTERS(NAME, VECTOR)                 \
    GRADVERIFY_SIMT_REGISTER(NAME##_x, std::uint32_t, VECTOR.x) \
    GRADVERIFY_SIMT_REGISTER(NAME##_y, std::uint32_t, VECTOR.y) \
    GRADVERIFY_SIMT_REGISTER(NAME##_z, std::uint32_t, VECTOR.z)
GRADVERIFY_SIMT_REGISTERS(tid, unit::state.thread.index)
GRADVERIFY_SIMT_REGISTERS(ntid, unit::state.block_dim)
GRADVERIFY_SIMT_REGISTERS(ctaid, unit::state.block_index)
GRADVERIFY_SIMT_REGISTERS(nctaid, unit::state.grid_dim)
GRADVERIFY_SIMT_REGISTER(laneid, std::uint32_t, unit::lane())
GRADVERIFY_SIMT_REGISTER(warpid, std::uint32_t, unit::state.thread.rank / 32u)
GRADVERIFY_SIMT_REGISTER(
    nwarpid, std::uint32_t,
    (unit::state.block_dim.x * unit::state.block_dim.y * unit::state.block_dim.z + 31u) / 32u)
GRADVERIFY_SIMT_REGISTER(smid, std::uint32_t, 0)
GRADVERIFY_SIMT_REGISTER(nsmid, std::uint32_t, 1)
GRADVERIFY_SIMT_REGISTER(gridid, std::uint64_t, unit::state.launch)
GRADVERIFY_SIMT_REGISTER(clock, std::uint32_t, ::clock64())
GRADVERIFY_SIMT_REGISTER(clock_hi, std::uint32_t, static_cast<std::uint64_t>(::clock64()) >> 32)
GRADVERIFY_SIMT_REGISTER(clock64, std::uint64_t, ::clock64())
GRADVERIFY_SIMT_REGISTER(globaltimer, std::uint64_t, ::clock64())
GRADVERIFY_SIMT_REGISTER(globaltimer_lo, std::uint32_t, ::clock64())
GRADVERIFY_SIMT_REGISTER(globaltimer_hi, std::uint32_t,
                         static_cast<std::uint64_t>(::clock64()) >> 32)
GRADVERIFY_SIMT_REGISTER(lanemask_eq, std::uint32_t, 1u << unit::lane())
GRADVERIFY_SIMT_REGISTER(lanemask_lt, std::uint32_t, (1u << unit::lane()) - 1u)
GRADVERIFY_SIMT_REGISTER(lanemask_le, std::uint32_t, ~0u >> (31u - unit::lane()))
GRADVERIFY_SIMT_REGISTER(lanemask_gt, std::uint32_t, ~(~0u >> (31u - unit::lane())))
GRADVERIFY_SIMT_REGISTER(lanemask_ge, std::uint32_t, ~0u << unit::lane())
GRADVERIFY_SIMT_REGISTER(dynamic_smem_size, std::uint32_t, unit::state.dynamic_shared_bytes)
GRADVERIFY_SIMT_REGISTER(total_smem_size, std::uint32_t, unit::state.dynamic_shared_bytes)
#undef GRADVERIFY_SIMT_REGISTERS
#undef GRADVERIFY_SIMT_REGISTER

}  // namespace gradverify::simt::ptx
