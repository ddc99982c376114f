// SPDX-License-Identifier: Apache-2.0
// Clusters of blocks in PTX: their barrier (PTX ISA, 9.7.13.4), addresses in the shared memory of
// other blocks (9.7.9.22 and 9.7.9.23), and their special registers (10.12 to 10.18).
#pragma once
#pragma GCC system_header

#include "gradverify_simt/ptx/memory.hpp"
#include "gradverify_simt/sync.hpp"

namespace gradverify::simt::ptx {

/// barrier.cluster.
inline void cluster_arrive(GRADVERIFY_SIMT_PLACE) {
    unit::gradverify_simt_cluster_arrive(file, line);
}
inline void cluster_arrive_relaxed(GRADVERIFY_SIMT_PLACE) {
    unit::gradverify_simt_cluster_arrive(file, line, false);
}
inline void cluster_wait(GRADVERIFY_SIMT_PLACE) { unit::gradverify_simt_cluster_wait(file, line); }

inline unsigned checked_rank(std::uint32_t rank, const char* file, int line) {
    constexpr int illegal_instruction = 715;
    if (rank >= unit::state.cluster_size) [[unlikely]]
        unit::gradverify_simt_trap(illegal_instruction, "a rank that no block of the cluster has",
                                   file, line);
    return rank;
}
/// mapa of an address within shared memory, and of a generic one.
inline std::uint64_t mapa_shared(std::uint64_t address, std::uint32_t rank, GRADVERIFY_SIMT_PLACE) {
    return of_block(address, checked_rank(rank, file, line));
}
inline std::uint64_t mapa(std::uint64_t pointer, std::uint32_t rank, GRADVERIFY_SIMT_PLACE) {
    return from_shared(of_block(to_shared(pointer), checked_rank(rank, file, line)));
}
inline std::uint32_t getctarank_shared(std::uint64_t address) { return rank_of_shared(address); }
inline std::uint32_t getctarank(std::uint64_t pointer) {
    return rank_of_shared(to_shared(pointer));
}

#define GRADVERIFY_SIMT_REGISTERS(NAME, X, Y, Z) \
    inline std::uint32_t register_##NAME##_x() { \
        const unit::State& s = unit::state;      \
        return X;                                \
    }                                            \
    inline std::uint32_t register_##NAME##_y() { \
        const unit::State& s = unit::state;      \
        return Y;                                \
    }                                            \
    inline std::uint32_t register_##NAME##_z() { \
        const unit::State& s = unit::state;      \
        return Z;                                \
    }
#define GRADVERIFY_SIMT_REGISTER(NAME, T, VALUE) \
    inline T register_##NAME() { return VALUE; }
GRADVERIFY_SIMT_REGISTERS(clusterid, s.block_index.x / s.cluster_dim.x,
                          s.block_index.y / s.cluster_dim.y, s.block_index.z / s.cluster_dim.z)
GRADVERIFY_SIMT_REGISTERS(nclusterid, s.grid_dim.x / s.cluster_dim.x,
                          s.grid_dim.y / s.cluster_dim.y, s.grid_dim.z / s.cluster_dim.z)
GRADVERIFY_SIMT_REGISTERS(cluster_ctaid, s.cluster_index.x, s.cluster_index.y, s.cluster_index.z)
GRADVERIFY_SIMT_REGISTERS(cluster_nctaid, s.cluster_dim.x, s.cluster_dim.y, s.cluster_dim.z)
GRADVERIFY_SIMT_REGISTER(cluster_ctarank, std::uint32_t, unit::state.cluster_rank)
GRADVERIFY_SIMT_REGISTER(cluster_nctarank, std::uint32_t, unit::state.cluster_size)
GRADVERIFY_SIMT_REGISTER(is_explicit_cluster, bool, unit::state.cluster_size > 1)
#undef GRADVERIFY_SIMT_REGISTER
#undef GRADVERIFY_SIMT_REGISTERS

}  // namespace gradverify::simt::ptx
