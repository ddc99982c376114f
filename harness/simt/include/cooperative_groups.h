// SPDX-License-Identifier: Apache-2.0
// Cooperative groups on the CPU device: blocks, tiles of a warp, coalesced threads, and the grid of
// a cooperative launch. Clusters, several devices, and tiles of more than a warp run on cuda only.
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
    static bool is_valid() { return unit::state.is_cooperative; }
    static void sync(GRADVERIFY_SIMT_PLACE) { unit::gradverify_simt_grid_barrier(file, line); }
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
    static dim3 block_index() { return blockIdx; }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 group_dim() { return gridDim; }
};
inline grid_group this_grid() { return {}; }

class cluster_group {
  public:
    struct arrival_token {};
    static void sync(GRADVERIFY_SIMT_PLACE) {
        unit::gradverify_simt_cluster_arrive(file, line);
        unit::gradverify_simt_cluster_wait(file, line);
    }
    static arrival_token barrier_arrive(GRADVERIFY_SIMT_PLACE) {
        unit::gradverify_simt_cluster_arrive(file, line);
        return {};
    }
    static void barrier_wait(GRADVERIFY_SIMT_PLACE) {
        unit::gradverify_simt_cluster_wait(file, line);
    }
    static void barrier_wait(arrival_token&&, GRADVERIFY_SIMT_PLACE) {
        unit::gradverify_simt_cluster_wait(file, line);
    }
    static unsigned query_shared_rank(const void* address) {
        return gradverify::simt::ptx::getctarank(reinterpret_cast<std::uintptr_t>(address));
    }
    template <class T>
    static T* map_shared_rank(T* address, int rank, GRADVERIFY_SIMT_PLACE) {
        return reinterpret_cast<T*>(gradverify::simt::ptx::mapa(
            reinterpret_cast<std::uintptr_t>(address), static_cast<unsigned>(rank), file, line));
    }
    static dim3 block_index() { return unit::state.cluster_index; }
    static unsigned block_rank() { return unit::state.cluster_rank; }
    static dim3 dim_blocks() { return unit::state.cluster_dim; }
    static unsigned num_blocks() { return unit::state.cluster_size; }
    static dim3 dim_threads() {
        const dim3 &blocks = unit::state.cluster_dim, &threads = unit::state.block_dim;
        return {blocks.x * threads.x, blocks.y * threads.y, blocks.z * threads.z};
    }
    static dim3 thread_index() {
        const uint3 &block = unit::state.cluster_index, &thread = unit::state.thread.index;
        const dim3& threads = unit::state.block_dim;
        return {block.x * threads.x + thread.x, block.y * threads.y + thread.y,
                block.z * threads.z + thread.z};
    }
    static unsigned thread_rank() {
        return block_rank() * thread_block::size() + thread_block::thread_rank();
    }
    static unsigned num_threads() { return num_blocks() * thread_block::size(); }
    static unsigned size() { return num_threads(); }
};
inline cluster_group this_cluster() { return {}; }

/// Lanes of one warp, by mask; a lane's rank is its place among them.
class coalesced_group {
  public:
    explicit coalesced_group(unsigned mask) : mask_(mask) {}
    unsigned size() const { return static_cast<unsigned>(__popc(mask_)); }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const {
        return static_cast<unsigned>(__popc(mask_ & ((1u << unit::lane()) - 1u)));
    }
    static unsigned meta_group_rank() { return 0; }
    static unsigned meta_group_size() { return 1; }
    void sync(GRADVERIFY_SIMT_PLACE) const { __syncwarp(mask_, file, line); }
    template <class T>
    T shfl(T value, unsigned rank, GRADVERIFY_SIMT_PLACE) const {
        return unit::shuffle(mask_, value, lane_of(rank), file, line);
    }
/// From the member at `FROM`; the own value where the group has none there.
#define GRADVERIFY_SIMT_GROUP_SHUFFLE(NAME, FROM)                   \
    template <class T>                                              \
    T NAME(T value, unsigned by, GRADVERIFY_SIMT_PLACE) const {     \
        const unsigned own = thread_rank(), from = FROM;            \
        return shfl(value, from < size() ? from : own, file, line); \
    }
    GRADVERIFY_SIMT_GROUP_SHUFFLE(shfl_down, own + by)
    GRADVERIFY_SIMT_GROUP_SHUFFLE(shfl_up, own - by)
    GRADVERIFY_SIMT_GROUP_SHUFFLE(shfl_xor, own ^ by)
#undef GRADVERIFY_SIMT_GROUP_SHUFFLE
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
    unsigned match_any(auto value, GRADVERIFY_SIMT_PLACE) const {
        return by_rank(__match_any_sync(mask_, value, file, line));
    }
    unsigned match_all(auto value, int& predicate, GRADVERIFY_SIMT_PLACE) const {
        return by_rank(__match_all_sync(mask_, value, &predicate, file, line));
    }
    unsigned gradverify_mask() const { return mask_; }

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
/// The threads of a tile's parent.
template <class Parent>
unsigned parent_threads() {
    if constexpr (requires { Parent::gradverify_size; }) return Parent::gradverify_size;
    return thread_block::size();
}
}  // namespace detail

/// `Size` neighbouring lanes of a warp.
template <unsigned Size, class Parent = void>
class thread_block_tile : public coalesced_group {
    static_assert(Size == 1 || Size == 2 || Size == 4 || Size == 8 || Size == 16 || Size == 32,
                  "gradverify: tiles of more than a warp run on cuda only");

  public:
    static constexpr unsigned gradverify_size = Size;
    thread_block_tile() : coalesced_group(detail::tile_mask(Size)) {}
    /// To the type without its parent, as functions take it.
    template <class Other>
    thread_block_tile(const thread_block_tile<Size, Other>& other)
        : coalesced_group(other.gradverify_mask()), parent_threads_(other.gradverify_parent()) {}
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    static unsigned thread_rank() { return unit::lane() % Size; }
    unsigned meta_group_rank() const { return unit::state.thread.rank % parent_threads_ / Size; }
    unsigned meta_group_size() const { return (parent_threads_ + Size - 1) / Size; }
    unsigned gradverify_parent() const { return parent_threads_; }

  private:
    unsigned parent_threads_ = detail::parent_threads<Parent>();
};
template <unsigned Size, class Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
    return {};
}

class thread_group {
  public:
    thread_group(const thread_block&) : is_block_(true), lanes_(0) {}
    thread_group(const coalesced_group& group)
        : is_block_(false), lanes_(group.gradverify_mask()) {}
    void sync(GRADVERIFY_SIMT_PLACE) const {
        is_block_ ? thread_block::sync(file, line) : lanes_.sync(file, line);
    }
    unsigned size() const { return is_block_ ? thread_block::size() : lanes_.size(); }
    unsigned num_threads() const { return size(); }
    unsigned thread_rank() const {
        return is_block_ ? thread_block::thread_rank() : lanes_.thread_rank();
    }

  private:
    bool is_block_;
    coalesced_group lanes_;
};
thread_group tiled_partition(const auto&, unsigned size) {
    return coalesced_group(detail::tile_mask(size));
}
/// The members of the group that give the same label, or the same predicate.
coalesced_group labeled_partition(const auto& group, auto label, GRADVERIFY_SIMT_PLACE) {
    return coalesced_group(__match_any_sync(group.gradverify_mask(), label, file, line));
}
coalesced_group binary_partition(const auto& group, bool predicate, GRADVERIFY_SIMT_PLACE) {
    const unsigned votes = __ballot_sync(group.gradverify_mask(), predicate, file, line);
    return coalesced_group(predicate ? votes : group.gradverify_mask() & ~votes);
}

void sync(const auto& group, GRADVERIFY_SIMT_PLACE) { group.sync(file, line); }

}  // namespace cooperative_groups
