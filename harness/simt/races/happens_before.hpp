// SPDX-License-Identifier: Apache-2.0
// Which accesses of a launch happen before which others in the CUDA memory model: by barriers, by
// __syncwarp, and from a fence by way of an atomic or volatile access to one that reads it.
// Shuffles and votes order nothing.
//
// A segment is the time of one block from one barrier to the next. Blocks run one after another, so
// segments have one count over all blocks and launches.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "gradverify_simt/vector_types.hpp"
#include "harness/simt/races/shadow.hpp"

namespace gradverify::simt {

class HappensBefore {
  public:
    void begin_launch();
    /// A copy of memory by the host's call: its segment.
    std::uint32_t begin_copy() { return ++last_segment_; }
    struct BlockStart {
        uint3 index;
        unsigned threads, rank;  ///< in its cluster
        bool begins_cluster;
    };
    void begin_block(const BlockStart& block);
    /// The state of a block of a cluster that is left for another, and back.
    struct Saved;
    std::shared_ptr<const Saved> leave_block();
    void resume_block(const Saved& saved);
    /// All live threads of the cluster met. Of blocks that were left, when they are resumed.
    void cluster_barrier();
    /// All live threads of the block met.
    void barrier();
    /// These lanes of a warp met at a __syncwarp.
    void warp_sync(unsigned warp, std::uint32_t lanes);
    /// One `of_block` does not order what other blocks see.
    void fence(unsigned rank, bool of_block);
    /// A fence between the thread's own accesses and those of other proxies, of these kinds. It
    /// lets other threads see nothing.
    void fence_proxy(unsigned rank, unsigned accesses);
    /// Whether such a fence, for one of these kinds, came after a write of this block and before
    /// what this thread does next.
    bool is_proxy_fenced(const Access& write, unsigned rank, unsigned accesses) const;
    struct SyncAccess {
        bool reads, writes;
    };
    /// A release of all that the thread has done, which later ones do not go beyond.
    void release_once(std::uintptr_t address, unsigned rank);
    /// Nobody has acquired what was released there.
    void forget_releases(std::uintptr_t address) { locations_.erase(address); }
    /// An atomic or volatile write releases the fences so far; a read acquires what was released.
    void synchronise(std::uintptr_t address, unsigned rank, SyncAccess access);

    /// Whether an access of this launch happens before the next one of this thread.
    bool is_ordered(const Access& earlier, unsigned rank) const {
        return is_clearly_ordered(earlier, rank) || is_ordered_slowly(earlier, rank);
    }
    /// Whether it was the same thread, or a barrier came between.
    bool is_clearly_ordered(const Access& earlier, unsigned rank) const {
        if (earlier.segment == segment_) return earlier.rank == rank;
        return earlier.segment >= cluster_first_ &&
               (earlier.block == block_ || earlier.segment < cluster_acquired_);
    }
    /// Grows whenever a thread may have come to be ordered after more.
    std::uint64_t version() const { return version_; }
    /// The running thread's half of an access.
    Access access_of(unsigned rank) const {
        Access access;
        access.clock = clocks_[rank];
        access.segment = segment_;
        access.rank = rank & 1023u;
        access.block = block_ & 15u;
        access.fences = fences_[rank] & 0x7fu;
        return access;
    }

    std::uint32_t block_first() const { return block_first_; }
    /// The first segment of the block's cluster, which is the block's without clusters.
    std::uint32_t cluster_first() const { return cluster_first_; }
    bool is_of_running_block(const Access& earlier) const {
        return earlier.segment >= cluster_first_ && earlier.block == block_;
    }
    std::uint32_t launch_first() const { return launch_first_; }
    /// Whether the shadow must be cleared and `restart` called, before the count overflows.
    bool is_near_end() const { return last_segment_ > 0xf0000000u; }
    void restart() { last_segment_ = 0; }
    /// The index of a block of this launch, by any of its segments.
    uint3 block_index_of(std::uint32_t segment) const { return block_of(segment).index; }

  private:
    struct Release;
    using Location = std::vector<Release>;  ///< the releases at an address, by block
    /// The first `count` releases of a location, which a thread has acquired.
    struct Acquired {
        const Location* location;
        std::size_t count;
    };
    using AcquiredList = std::vector<Acquired>;
    using Known = std::array<std::uint16_t, 32>;  ///< the clocks of a warp's lanes
    /// One thread's last fence.
    struct Fence {
        std::uint32_t segment = 0;
        unsigned count = 0;
        bool has_known = false;
        Known known{};
        AcquiredList acquired;
    };
    /// The fences that the threads of a block had passed when a segment ended.
    struct SegmentFences {
        std::uint32_t segment;
        std::array<std::uint8_t, 1024> counts, wide_counts;
        bool has_wide;  ///< in this segment
        std::shared_ptr<const SegmentFences> earlier;
    };
    /// The fences of a warp's other lanes before they met the releasing one.
    struct WarpFences {
        Known known;
        std::array<std::uint8_t, 32> counts, wide_counts;
    };
    /// An atomic or volatile write, and the fences that it lets others see.
    struct Release {
        std::uint32_t block_first, segment;
        unsigned rank;
        std::shared_ptr<const Fence> fence, wide_fence;
        std::shared_ptr<const SegmentFences> of_block;
        std::shared_ptr<const WarpFences> of_warp;
        /// All that who acquires it and the location's earlier ones acquires by way of their
        /// fences; null: that is too much to keep.
        std::shared_ptr<const AcquiredList> reach;

        /// To other blocks, wide fences alone do.
        bool covers(const Access& earlier, bool to_others) const;
    };
    struct ProxyFence {
        Access at;
        std::shared_ptr<const Fence> fence;
        unsigned accesses;
        bool follows(const Access& write) const;
    };
    struct Block {
        std::uint32_t first_segment;  ///< of this interval of its time
        uint3 index;
        std::uint32_t block_first;
    };

    bool is_ordered_slowly(const Access& earlier, unsigned rank) const;
    bool is_acquired(const Access& earlier, const AcquiredList& acquired) const;
    /// The same by way of each release, of which there may be many.
    bool is_acquired_by_any(const Access& earlier, AcquiredList acquired) const;
    /// `directly`: by what the asking thread itself has acquired.
    bool is_covered(const Access& earlier, std::uint32_t block, const AcquiredList& by,
                    bool directly) const;
    void release(std::uintptr_t address, unsigned rank);
    const Block& block_of(std::uint32_t segment) const;
    static void add(AcquiredList& list, Acquired acquired);
    /// Adds what the list's releases reach. False: that is not known.
    static bool add_reach(AcquiredList& list, const AcquiredList& of);
    static std::shared_ptr<const AcquiredList> reach_of(const Release& release,
                                                        const Location& earlier);
    void add_acquired_by(unsigned rank, AcquiredList& list) const;
    void forget_warps();

    /// What is the running block's own.
    auto own();

    std::uint64_t version_ = 0;
    std::uint32_t segment_ = 0, block_first_ = 0, launch_first_ = 1;
    std::uint32_t last_segment_ = 0;  ///< of any block
    unsigned block_ = 0;              ///< rank in its cluster
    std::uint32_t cluster_first_ = 0;
    std::uint32_t cluster_released_ = 0;  ///< when the cluster's barrier was last complete
    std::uint32_t cluster_acquired_ = 0;  ///< the same, as far as the block has gone on
    bool has_clusters_ = false;           ///< blocks of the launch took turns
    std::array<std::uint16_t, 1024> clocks_{};
    std::array<std::uint8_t, 1024> fences_{};
    std::array<std::uint8_t, 1024> wide_fences_{};   ///< `fences_` at the last that is not of_block
    std::uint32_t warps_synchronised_ = 0;           ///< since the segment began, a bit each
    std::array<std::array<Known, 32>, 32> known_{};  ///< by warp and lane
    std::array<std::shared_ptr<const Fence>, 1024> last_fence_, last_wide_fence_;
    std::shared_ptr<const SegmentFences> segment_fences_;  ///< of the block's earlier segments
    /// In this launch, in this block, in this segment.
    bool has_fences_ = false, block_has_fences_ = false, segment_has_fences_ = false;
    bool segment_has_wide_fences_ = false;
    std::unordered_map<std::uintptr_t, Location> locations_;
    std::unordered_map<unsigned, AcquiredList> acquired_by_thread_;
    AcquiredList acquired_by_block_;
    std::unordered_map<unsigned, std::vector<ProxyFence>> proxy_fences_;  ///< of the block, by rank
    std::vector<Block> blocks_;
};

}  // namespace gradverify::simt
