// SPDX-License-Identifier: Apache-2.0
// Cooperative groups on the CPU device: blocks, tiles of a warp, coalesced threads. A group that
// spans blocks can be asked for its ranks, but its sync runs on cuda only.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/forced.hpp"

namespace cooperative_groups {

namespace unit = gradverify::simt::unit;

class thread_block {
  public:
    static void sync(GRADVERIFY_SIMT_PLACE) { __syncthreads(file, line); }
    static unsigned thread_rank() { return unit::state.thread.rank; }
    static unsigned num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned size() { return num_threads(); }
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

class grid_group {
  public:
    static bool is_valid() { return false; }
    static void sync(GRADVERIFY_SIMT_PLACE) {
        unit::gradverify_simt_trap(801, "grid_group::sync() runs on cuda only", file, line);
    }
    static unsigned long long block_rank() {
        return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
               blockIdx.x;
    }
    static unsigned long long num_blocks() {
        return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
    }
    static unsigned long long thread_rank() {
        return block_rank() * thread_block::size() + thread_block::thread_rank();
    }
    static unsigned long long num_threads() { return num_blocks() * thread_block::size(); }
    static unsigned long long size() { return num_threads(); }
    static dim3 group_dim() { return gridDim; }
};
inline grid_group this_grid() { return {}; }

/// Lanes of one warp, by mask; a lane's rank is its place among them.
class coalesced_group {
  public:
    explicit coalesced_group(unsigned mask) : mask_(mask) {}
    unsigned size() const { return static_cast<unsigned>(__popc(mask_)); }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const {
        return static_cast<unsigned>(__popc(mask_ & ((1u << unit::lane()) - 1u)));
    }
    void sync(GRADVERIFY_SIMT_PLACE) const { __syncwarp(mask_, file, line); }
    template <class T>
    T shfl(T value, unsigned rank, GRADVERIFY_SIMT_PLACE) const {
        return unit::shuffle(mask_, value, lane_of(rank), file, line);
    }
    template <class T>
    T shfl_down(T value, unsigned delta, GRADVERIFY_SIMT_PLACE) const {
        const unsigned from = thread_rank() + delta;
        return shfl(value, from < size() ? from : thread_rank(), file, line);
    }
    template <class T>
    T shfl_up(T value, unsigned delta, GRADVERIFY_SIMT_PLACE) const {
        const unsigned own = thread_rank();
        return shfl(value, own >= delta ? own - delta : own, file, line);
    }
    template <class T>
    T shfl_xor(T value, unsigned lane_mask, GRADVERIFY_SIMT_PLACE) const {
        const unsigned from = thread_rank() ^ lane_mask;
        return shfl(value, from < size() ? from : thread_rank(), file, line);
    }
    int any(int predicate, GRADVERIFY_SIMT_PLACE) const {
        return __any_sync(mask_, predicate, file, line);
    }
    int all(int predicate, GRADVERIFY_SIMT_PLACE) const {
        return __all_sync(mask_, predicate, file, line);
    }
    /// Bit `i` is the vote of rank `i`.
    unsigned ballot(int predicate, GRADVERIFY_SIMT_PLACE) const {
        return by_rank(__ballot_sync(mask_, predicate, file, line));
    }
    template <class T>
    unsigned match_any(T value, GRADVERIFY_SIMT_PLACE) const {
        return by_rank(__match_any_sync(mask_, value, file, line));
    }

  protected:
    unsigned lane_of(unsigned rank) const {
        unsigned left = mask_;
        for (rank %= size(); rank > 0; --rank) left &= left - 1;
        return static_cast<unsigned>(__ffs(static_cast<int>(left))) - 1u;
    }
    unsigned by_rank(unsigned lanes) const {
        unsigned ranks = 0, rank = 0;
        for (unsigned left = mask_; left != 0; left &= left - 1, ++rank) {
            ranks |= (lanes & left & (0u - left)) != 0 ? 1u << rank : 0u;
        }
        return ranks;
    }
    unsigned mask_;
};
inline coalesced_group coalesced_threads(GRADVERIFY_SIMT_PLACE) {
    return coalesced_group(__activemask(file, line));
}

namespace detail {
inline unsigned tile_mask(unsigned size) {
    const unsigned lanes = size >= 32 ? 0xffffffffu : (1u << size) - 1u;
    return lanes << (unit::lane() / size * size);
}
}  // namespace detail

/// `Size` neighbouring lanes of a warp.
template <unsigned Size, class Parent = void>
class thread_block_tile : public coalesced_group {
    static_assert(Size == 1 || Size == 2 || Size == 4 || Size == 8 || Size == 16 || Size == 32,
                  "gradverify: tiles of more than a warp run on cuda only");

  public:
    thread_block_tile() : coalesced_group(detail::tile_mask(Size)) {}
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    static unsigned thread_rank() { return unit::lane() % Size; }
    static unsigned meta_group_rank() { return unit::state.thread.rank / Size; }
    static unsigned meta_group_size() { return (thread_block::size() + Size - 1) / Size; }
};
template <unsigned Size, class Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
    return {};
}

/// A tile whose size is known at run time only.
class thread_group : public coalesced_group {
  public:
    explicit thread_group(unsigned size) : coalesced_group(detail::tile_mask(size)) {}
};
template <class Parent>
thread_group tiled_partition(const Parent&, unsigned size) {
    return thread_group(size);
}

template <class Group>
void sync(const Group& group, GRADVERIFY_SIMT_PLACE) {
    group.sync(file, line);
}

}  // namespace cooperative_groups
