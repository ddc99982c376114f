// SPDX-License-Identifier: Apache-2.0
// Cheap vector clocks: the segment is the clock between the warps of a block, each lane has a clock
// within its warp, and releases that name a fence order all else.
#include "harness/simt/races/happens_before.hpp"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "harness/simt/execute/warp.hpp"

namespace gradverify::simt {
namespace {

constexpr std::uint16_t last_clock = 0xffff;  // stands for all later times of the lane, too
constexpr unsigned last_fence_count = 0x7f;
// A longer chain of releases is taken to order everything, against false alarms.
constexpr std::size_t releases_searched = 1000000;
constexpr std::size_t locations_reached = 64;

}  // namespace

void HappensBefore::begin_launch() {
    launch_first_ = last_segment_ + 1;
    blocks_.clear();
    has_clusters_ = false;
    if (!has_fences_) return;
    has_fences_ = false;
    locations_.clear();
}

auto HappensBefore::own() {
    return std::tie(segment_, block_first_, block_, cluster_acquired_, clocks_, fences_,
                    wide_fences_, warps_synchronised_, known_, last_fence_, last_wide_fence_,
                    segment_fences_, block_has_fences_, segment_has_fences_,
                    segment_has_wide_fences_, acquired_by_thread_, acquired_by_block_,
                    proxy_fences_);
}

struct HappensBefore::Saved {
    std::tuple<std::uint32_t, std::uint32_t, unsigned, std::uint32_t,
               std::array<std::uint16_t, 1024>, std::array<std::uint8_t, 1024>,
               std::array<std::uint8_t, 1024>, std::uint32_t, std::array<std::array<Known, 32>, 32>,
               std::array<std::shared_ptr<const Fence>, 1024>,
               std::array<std::shared_ptr<const Fence>, 1024>, std::shared_ptr<const SegmentFences>,
               bool, bool, bool, std::unordered_map<unsigned, AcquiredList>, AcquiredList,
               std::unordered_map<unsigned, std::vector<ProxyFence>>>
        own;
};

std::shared_ptr<const HappensBefore::Saved> HappensBefore::leave_block() {
    has_clusters_ = true;
    auto saved = std::make_shared<Saved>();
    saved->own = own();
    return saved;
}

void HappensBefore::resume_block(const Saved& saved) {
    ++version_;
    own() = saved.own;
    if (cluster_acquired_ < cluster_released_) cluster_barrier();
}

void HappensBefore::cluster_barrier() {
    if (cluster_acquired_ == cluster_released_) cluster_released_ = ++last_segment_;
    cluster_acquired_ = cluster_released_;
    barrier();
}

void HappensBefore::begin_block(const BlockStart& block) {
    ++version_;
    block_first_ = segment_ = ++last_segment_;
    block_ = block.rank;
    if (block.begins_cluster) {
        cluster_first_ = block_first_;
        cluster_released_ = 0;
    }
    cluster_acquired_ = 0;
    blocks_.push_back({block_first_, block.index, block_first_});
    std::fill_n(clocks_.begin(), block.threads, std::uint16_t{1});
    forget_warps();
    acquired_by_block_.clear();
    acquired_by_thread_.clear();
    proxy_fences_.clear();
    if (!block_has_fences_) return;
    block_has_fences_ = segment_has_fences_ = segment_has_wide_fences_ = false;
    fences_.fill(0);
    wide_fences_.fill(0);
    last_fence_.fill(nullptr);
    last_wide_fence_.fill(nullptr);
    segment_fences_ = nullptr;
}

void HappensBefore::forget_warps() {
    for_each_bit(warps_synchronised_, [&](unsigned warp) {
        for (Known& known : known_[warp]) known.fill(0);
        const std::size_t first = std::size_t{warp} * 32;
        std::fill_n(clocks_.begin() + static_cast<std::ptrdiff_t>(first), 32, std::uint16_t{1});
    });
    warps_synchronised_ = 0;
}

void HappensBefore::barrier() {
    ++version_;
    if (std::exchange(segment_has_fences_, false)) {
        segment_fences_ = std::make_shared<const SegmentFences>(SegmentFences{
            segment_, fences_, wide_fences_, std::exchange(segment_has_wide_fences_, false),
            std::move(segment_fences_)});
    }
    const std::uint32_t earlier = std::exchange(segment_, ++last_segment_);
    if (blocks_.back().block_first != block_first_)
        blocks_.push_back({segment_, block_of(earlier).index, block_first_});
    forget_warps();
    for (const auto& [rank, list] : acquired_by_thread_) {
        for (const Acquired& acquired : list) add(acquired_by_block_, acquired);
    }
    acquired_by_thread_.clear();
}

void HappensBefore::warp_sync(unsigned warp, std::uint32_t lanes) {
    ++version_;
    warps_synchronised_ |= 1u << warp;
    std::uint16_t* clocks = &clocks_[std::size_t{warp} * 32];
    Known together{};
    for_each_bit(lanes, [&](unsigned lane) {
        const Known& known = known_[warp][lane];
        for (std::size_t i = 0; i < 32; ++i) together[i] = std::max(together[i], known[i]);
    });
    for_each_bit(lanes, [&](unsigned lane) {
        together[lane] = std::max(together[lane], clocks[lane]);
        if (clocks[lane] != last_clock) ++clocks[lane];
    });
    for_each_bit(lanes, [&](unsigned lane) { known_[warp][lane] = together; });
    if (acquired_by_thread_.empty()) return;
    AcquiredList all;
    for_each_bit(lanes, [&](unsigned lane) { add_acquired_by(warp * 32 + lane, all); });
    if (all.empty()) return;
    for_each_bit(lanes, [&](unsigned lane) { acquired_by_thread_[warp * 32 + lane] = all; });
}

void HappensBefore::fence(unsigned rank, bool of_block) {
    has_fences_ = block_has_fences_ = segment_has_fences_ = true;
    if (fences_[rank] < last_fence_count) ++fences_[rank];
    Fence fence{.segment = segment_, .count = fences_[rank], .acquired = acquired_by_block_};
    if ((warps_synchronised_ >> rank / 32 & 1u) != 0) {
        fence.has_known = true;
        fence.known = known_[rank / 32][rank % 32];
    }
    add_acquired_by(rank, fence.acquired);
    last_fence_[rank] = std::make_shared<const Fence>(std::move(fence));
    if (of_block) return;
    last_wide_fence_[rank] = last_fence_[rank];
    wide_fences_[rank] = fences_[rank];
    segment_has_wide_fences_ = true;
}

void HappensBefore::fence_proxy(unsigned rank, unsigned accesses) {
    const std::shared_ptr<const Fence> before = last_fence_[rank];
    fence(rank, true);
    proxy_fences_[rank].push_back(
        {access_of(rank), std::exchange(last_fence_[rank], before), accesses});
}

/// The write was its thread's own, and before it in program order.
bool HappensBefore::ProxyFence::follows(const Access& write) const {
    return write.segment < fence->segment ||
           (write.segment == fence->segment &&
            (write.fences < fence->count || fence->count == last_fence_count));
}

bool HappensBefore::is_proxy_fenced(const Access& write, unsigned rank, unsigned accesses) const {
    const auto is_of_kind = [&](const ProxyFence& fence) {
        return (fence.accesses & accesses) != 0;
    };
    if (const auto own = proxy_fences_.find(write.rank); own != proxy_fences_.end()) {
        // The first that follows is the likeliest to be seen.
        const auto first = std::find_if(
            std::ranges::partition_point(
                own->second, [&](const ProxyFence& fence) { return !fence.follows(write); }),
            own->second.end(), is_of_kind);
        if (first != own->second.end() && is_ordered(first->at, rank)) return true;
    }
    for (const auto& [of, fences] : proxy_fences_) {
        // The last cover what earlier ones do.
        for (auto one = fences.rbegin(); one != fences.rend(); ++one) {
            const ProxyFence& fence = *one;
            const Release seen{.block_first = block_first_,
                               .segment = fence.at.segment,
                               .rank = of,
                               .fence = fence.fence,
                               .wide_fence = nullptr,
                               .of_block = nullptr,
                               .of_warp = nullptr};
            if (is_of_kind(fence) && is_ordered(fence.at, rank) &&
                (seen.covers(write, false) || is_acquired(write, fence.fence->acquired)))
                return true;
        }
    }
    return false;
}

void HappensBefore::synchronise(std::uintptr_t address, unsigned rank, SyncAccess access) {
    if (!has_fences_) return;
    if (access.reads) {
        ++version_;
        const auto found = locations_.find(address);
        if (found != locations_.end()) {
            add(acquired_by_thread_[rank], {&found->second, found->second.size()});
        }
    }
    if (access.writes && block_has_fences_) release(address, rank);
}

void HappensBefore::release_once(std::uintptr_t address, unsigned rank) {
    auto fences = std::tie(last_fence_[rank], last_wide_fence_[rank], wide_fences_[rank],
                           segment_has_wide_fences_);
    const std::tuple before(last_fence_[rank], last_wide_fence_[rank], wide_fences_[rank],
                            segment_has_wide_fences_);
    fence(rank, false);
    release(address, rank);
    fences = before;
}

void HappensBefore::release(std::uintptr_t address, unsigned rank) {
    Release release{.block_first = block_first_,
                    .segment = segment_,
                    .rank = rank,
                    .fence = last_fence_[rank],
                    .wide_fence = last_wide_fence_[rank],
                    .of_block = segment_fences_,
                    .of_warp = nullptr};
    if ((warps_synchronised_ >> rank / 32 & 1u) != 0) {
        const std::size_t first = std::size_t{rank / 32} * 32;
        WarpFences of_warp{.known = known_[rank / 32][rank % 32], .counts = {}, .wide_counts = {}};
        std::copy_n(&fences_[first], 32, of_warp.counts.begin());
        std::copy_n(&wide_fences_[first], 32, of_warp.wide_counts.begin());
        release.of_warp = std::make_shared<const WarpFences>(of_warp);
    }
    if (release.fence || release.of_block || release.of_warp) {
        Location& location = locations_[address];
        release.reach = reach_of(release, location);
        location.push_back(std::move(release));
    }
}

bool HappensBefore::add_reach(AcquiredList& list, const AcquiredList& of) {
    for (const Acquired& acquired : of) {
        const AcquiredList* const reach = (*acquired.location)[acquired.count - 1].reach.get();
        if (reach == nullptr) return false;
        for (const Acquired& further : *reach) add(list, further);
    }
    return true;
}

std::shared_ptr<const HappensBefore::AcquiredList> HappensBefore::reach_of(
    const Release& release, const Location& earlier) {
    AcquiredList reach;
    if (release.fence) {
        reach = release.fence->acquired;
        if (!add_reach(reach, release.fence->acquired)) return nullptr;
    }
    if (!earlier.empty()) {
        const auto& before = earlier.back().reach;
        if (before == nullptr) return nullptr;
        const std::size_t own = reach.size();
        for (const Acquired& one : *before) add(reach, one);
        if (own == 0) return before;
    }
    if (reach.size() > locations_reached) return nullptr;
    return std::make_shared<const AcquiredList>(std::move(reach));
}

void HappensBefore::add(AcquiredList& list, Acquired acquired) {
    for (Acquired& known : list) {
        if (known.location != acquired.location) continue;
        known.count = std::max(known.count, acquired.count);
        return;
    }
    list.push_back(acquired);
}

void HappensBefore::add_acquired_by(unsigned rank, AcquiredList& list) const {
    const auto found = acquired_by_thread_.find(rank);
    if (found == acquired_by_thread_.end()) return;
    for (const Acquired& acquired : found->second) add(list, acquired);
}

const HappensBefore::Block& HappensBefore::block_of(std::uint32_t segment) const {
    return *(std::ranges::upper_bound(blocks_, segment, {}, &Block::first_segment) - 1);
}

bool HappensBefore::Release::covers(const Access& earlier, bool to_others) const {
    const auto fenced = [&](unsigned count) {
        return earlier.fences < count || count == last_fence_count;
    };
    // A fence covers what its thread had done and seen by then.
    if (const Fence* const last = (to_others ? wide_fence : fence).get()) {
        if (earlier.segment < last->segment) return true;
        if (earlier.segment == last->segment) {
            if (earlier.rank == rank && fenced(last->count)) return true;
            if (last->has_known && earlier.rank / 32 == rank / 32 &&
                earlier.clock <= last->known[earlier.rank % 32])
                return true;
        }
    }
    for (const SegmentFences* at = of_block.get(); at != nullptr; at = at->earlier.get()) {
        const auto& counts = to_others ? at->wide_counts : at->counts;
        if (earlier.segment == at->segment && fenced(counts[earlier.rank])) return true;
        if ((!to_others || at->has_wide) && earlier.segment < at->segment) return true;
    }
    return of_warp && earlier.segment == segment && earlier.rank / 32 == rank / 32 &&
           earlier.clock <= of_warp->known[earlier.rank % 32] &&
           fenced((to_others ? of_warp->wide_counts : of_warp->counts)[earlier.rank % 32]);
}

bool HappensBefore::is_ordered_slowly(const Access& earlier, unsigned rank) const {
    if (earlier.segment == segment_ && earlier.rank / 32 == rank / 32) {
        const std::uint16_t known = known_[rank / 32][rank % 32][earlier.rank % 32];
        if (earlier.clock <= known || earlier.clock == last_clock) return true;
    }
    if (!has_fences_) return false;
    AcquiredList acquired = acquired_by_block_;
    add_acquired_by(rank, acquired);
    return is_acquired(earlier, acquired);
}

bool HappensBefore::is_acquired(const Access& earlier, const AcquiredList& acquired) const {
    const std::uint32_t block = block_of(earlier.segment).block_first;
    if (is_covered(earlier, block, acquired, true)) return true;
    AcquiredList further;
    return add_reach(further, acquired) ? is_covered(earlier, block, further, false)
                                        : is_acquired_by_any(earlier, acquired);
}

bool HappensBefore::is_acquired_by_any(const Access& earlier, AcquiredList acquired) const {
    // Add what the releasing threads had acquired before their fences, and so on.
    std::vector<std::size_t> expanded(acquired.size());
    std::size_t searched = 0;
    for (bool grows = true; grows;) {
        grows = false;
        for (std::size_t i = 0; i < acquired.size(); ++i) {
            for (; expanded[i] < acquired[i].count; ++expanded[i]) {
                if (++searched > releases_searched) return true;
                grows = true;
                const Location& location = *acquired[i].location;
                const Fence* fence = location[expanded[i]].fence.get();
                if (fence == nullptr) continue;
                for (const Acquired& further : fence->acquired) add(acquired, further);
                expanded.resize(acquired.size());
            }
        }
    }
    return is_covered(earlier, block_of(earlier.segment).block_first, acquired, false);
}

bool HappensBefore::is_covered(const Access& earlier, std::uint32_t block, const AcquiredList& by,
                               bool directly) const {
    for (const Acquired& acquired : by) {
        const std::span releases(acquired.location->data(), acquired.count);
        // clang 14 can't read what std::ranges::equal_range returns.
        auto first = releases.begin(), end = releases.end();
        if (!has_clusters_) {
            first = std::ranges::lower_bound(releases, block, {}, &Release::block_first);
            end = std::ranges::upper_bound(releases, block, {}, &Release::block_first);
        }
        // A thread's last release covers what its earlier ones do.
        while (end != first)
            if ((--end)->block_first == block &&
                end->covers(earlier, directly && block != block_first_))
                return true;
    }
    return false;
}

}  // namespace gradverify::simt
