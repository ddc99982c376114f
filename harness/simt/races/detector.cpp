// SPDX-License-Identifier: Apache-2.0
// The detector's side of a launch. is_race.cpp decides what is wrong with an access.
#include "harness/simt/races/detector.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "harness/simt/execute/executor.hpp"
#include "harness/simt/runtime/buffers.hpp"
#include "harness/simt/runtime/device_memory.hpp"
#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {

GRADVERIFY_SIMT_STATIC_TLS constinit thread_local Detector* detecting = nullptr;

namespace {

// Made by the first launch that is checked, and never destroyed: a thread may outlive it.
constinit Detector* detector_of_process = nullptr;

// A larger shadow is given back before the next launch.
constexpr std::size_t shadow_bytes_kept = std::size_t{256} << 20;

/// "x" of a text that holds `gradverify_tag_7_x`, as the rewriter names what stands for `x`.
std::string variable_of(const char* function) {
    const std::string_view text = function;
    constexpr std::string_view prefix = "gradverify_tag_";
    const std::size_t at = text.rfind(prefix);
    if (at == std::string_view::npos) return "a shared variable";
    const std::size_t name = text.find('_', at + prefix.size()) + 1;
    return std::string(text.substr(name, text.find_first_of(";,]> ", name) - name));
}

bool same(unit::Place a, unit::Place b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

}  // namespace

Watcher& watcher_of_process() {
    const std::scoped_lock lock(call_mutex());
    if (detector_of_process == nullptr) detector_of_process = new Detector;
    return *detector_of_process;
}

Detector::Detector() : shadow_([this](ShadowPage& page) { classify(page); }) {}

void Detector::begin_launch(const Launch& launch) {
    detecting = this;
    launch_ = launch;
    forget_async();
    watches_registers_ = false;
    has_split_ = false;
    if (shadow_.bytes() > shadow_bytes_kept || happens_before_.is_near_end()) {
        shadow_.clear();
        happens_before_.restart();
        works_.forget();
    }
    const std::uint64_t generation = device_memory_generation() + named_buffers_generation();
    // Each OS thread has a stack, arenas and fibers of its own.
    const std::uint64_t executor = Executor::of_this_thread().number;
    if ((std::exchange(memory_generation_, generation) != generation) |
        (std::exchange(executor_, executor) != executor))
        shadow_.forget_kinds();
    works_.before_launch();
    // A static variable is allowed when it is placed.
    for (const NamedBuffer& variable : shared_variables_)
        shadow_.set_forbidden(variable.begin, variable.end, true);
    shared_variables_.clear();
    for (const SharedArenas& arenas : launch.arenas) {
        const auto* const dynamic = reinterpret_cast<const std::byte*>(arenas.dynamic);
        const std::byte* const dynamic_end = dynamic + arenas.dynamic_bytes;
        shadow_.set_forbidden(dynamic, reinterpret_cast<const std::byte*>(arenas.dynamic_end),
                              true);
        shadow_.set_forbidden(dynamic, dynamic_end, false);
        shared_variables_.push_back({"dynamic shared memory", dynamic, dynamic_end, 0});
    }
    happens_before_.begin_launch();
    works_.begin_launch();
    operations_.begin_launch();
    random_ = Random(launch.schedule.seed + launch.number).next();
    draw_accesses_left();
}

std::uint64_t Detector::end_launch() {
    resolve_pending();
    report_deferred_races();
    detecting = nullptr;
    return std::exchange(accesses_, 0);
}

void Detector::begin_block(bool begins_cluster) {
    resolve_pending();
    const unit::State& state = unit::state;
    if (begins_cluster) {
        forget_async();
        operations_.begin_cluster();
        mbarriers_.clear();
        relaxed_waits_.clear();
        map_acquires_.clear();
        cluster_barrier_ = {};
        running_ranks_ = 0;
        for (unsigned rank = 0; rank < launch_.arenas.size() && launch_.arenas.size() > 1; ++rank)
            allow_shared(rank, false);
    }
    happens_before_.begin_block(
        {.index = state.block_index,
         .threads = state.block_dim.x * state.block_dim.y * state.block_dim.z,
         .rank = state.cluster_rank,
         .begins_cluster = begins_cluster});
    if (launch_.arenas.size() > 1) allow_shared(state.cluster_rank, true);
    running_ranks_ |= 1u << state.cluster_rank;
    RegisterFences& fences = register_fences_[state.cluster_rank];
    fences.block_began_at = ++register_time_;
    fences.at.fill(fences.block_began_at);
    first_arrival_ = {};
    shared_is_restored_ = false;
}

void Detector::resume_block() {
    resolve_pending();
    happens_before_.begin_launch();
    works_.resume_launch();
    begin_block(true);
    shared_is_restored_ = true;
}

void Detector::barrier_released() {
    happens_before_.barrier();
    first_arrival_ = {};
}

void Detector::arrive_at_barrier(unit::Place place) {
    if (first_arrival_.file == nullptr) {
        first_arrival_ = place;
        first_arrival_rank_ = unit::state.thread.rank;
        return;
    }
    if (same(first_arrival_, place)) return;
    const std::string here = line_of(place), there = line_of(first_arrival_);
    findings_.add({FindingKind::barrier, here, there}, [&] {
        return "threads of one block meet at different barriers: " +
               thread_text(unit::state.thread.rank) + " at " + here + ", " +
               thread_text(first_arrival_rank_) + " at " + there +
               "; a barrier must be reached by all threads of a block or by none" + where();
    });
}

void Detector::warp_synchronised(std::uint32_t lanes) {
    resolve_pending();
    happens_before_.warp_sync(unit::state.thread.rank / warp_lanes, lanes);
}

void Detector::check_mask(const WarpMask& warp) {
    if ((warp.mask & warp.absent) == 0 || warp.op == unit::WarpOp::active) return;
    // Most code names the lanes of a block's last warp by a full mask.
    if (warp.mask == ~0u) return;
    report_at(FindingKind::warp_mask, warp.place,
              "a warp primitive's mask " + hex_text(warp.mask) +
                  " names lanes that are not there (" + hex_text(warp.mask & warp.absent) +
                  " have exited, or the block does not have them)");
}

void Detector::shuffle_from_absent_lane(unsigned source_lane, unit::Place place) {
    report_at(FindingKind::warp_mask, place,
              "a shuffle reads from lane " + std::to_string(source_lane) +
                  ", which has exited, or which the block does not have: its value is undefined");
}

void Detector::place_shared(const void* address, std::size_t bytes, std::size_t element_bytes,
                            const char* function) {
    const auto offset =
        static_cast<const char*>(address) - static_cast<const char*>(unit::state.static_arena);
    if (std::ranges::find(shared_variables_, static_cast<const std::byte*>(address),
                          &NamedBuffer::begin) != shared_variables_.end())
        return;
    // In every block of a cluster.
    for (unsigned rank = 0; rank < launch_.arenas.size(); ++rank) {
        const auto* const begin =
            reinterpret_cast<const std::byte*>(launch_.arenas[rank].static_begin + offset);
        if ((running_ranks_ >> rank & 1u) != 0) shadow_.set_forbidden(begin, begin + bytes, false);
        shared_variables_.push_back({variable_of(function), begin, begin + bytes, element_bytes});
    }
}

unsigned Detector::rank_of(std::uintptr_t address) const {
    const auto holds = [&](const SharedArenas& of) {
        return AddressRange{number(of.static_begin), number(of.static_end)}.meets(address,
                                                                                  address + 1) ||
               AddressRange{number(of.dynamic_begin), number(of.dynamic_end)}.meets(address,
                                                                                    address + 1);
    };
    const auto found = std::ranges::find_if(launch_.arenas, holds);
    return static_cast<unsigned>(found - launch_.arenas.begin());
}

void Detector::allow_shared(unsigned rank, bool allowed) {
    for (const NamedBuffer& variable : shared_variables_)
        if (rank_of(number(variable.begin)) == rank)
            shadow_.set_forbidden(variable.begin, variable.end, !allowed);
}

void Detector::leave_cluster_block() {
    resolve_pending();
    first_arrival_ = {};
    left_blocks_[unit::state.cluster_rank] = happens_before_.leave_block();
}

void Detector::resume_cluster_block() {
    resolve_pending();
    first_arrival_ = {};
    happens_before_.resume_block(*left_blocks_[unit::state.cluster_rank]);
}

void Detector::end_cluster_block() {
    resolve_pending();
    running_ranks_ &= ~(1u << unit::state.cluster_rank);
    allow_shared(unit::state.cluster_rank, false);
}

namespace {
/// A key of HappensBefore that is the address of no memory, and of no named barrier.
constexpr std::uintptr_t place_of_cluster_barrier = 1;
}  // namespace

void Detector::arrive_at_cluster_barrier(bool releases) {
    resolve_pending();
    const unsigned rank = unit::state.thread.rank;
    if (releases)
        happens_before_.release_once(place_of_cluster_barrier, rank);
    else
        happens_before_.synchronise(place_of_cluster_barrier, rank,
                                    {.reads = false, .writes = true});
    ++cluster_barrier_.arrivals;
    cluster_barrier_.all_release &= releases;
    cluster_barrier_.last_thread = thread_of_cluster();
    cluster_barrier_.accesses = accesses_;
}

void Detector::wait_at_cluster_barrier() {
    if (cluster_barrier_.last_thread == thread_of_cluster() &&
        cluster_barrier_.accesses == accesses_)
        ++cluster_barrier_.waits;
}

void Detector::cluster_barrier_released() {
    resolve_pending();
    const ClusterBarrier all = std::exchange(cluster_barrier_, {});
    cluster_barrier_is_split_ = !all.all_release || all.waits + 1 < all.arrivals;
    has_split_ |= cluster_barrier_is_split_;
    if (!has_split_) happens_before_.forget_releases(place_of_cluster_barrier);
    if (!cluster_barrier_is_split_) happens_before_.cluster_barrier();
}

void Detector::leave_cluster_barrier() {
    if (cluster_barrier_is_split_)
        happens_before_.synchronise(place_of_cluster_barrier, unit::state.thread.rank,
                                    {.reads = true, .writes = false});
}

void Detector::draw_accesses_left() {
    if (launch_.schedule.give_way_one_in == 0) {
        accesses_left_ = 0;
        return;
    }
    Random random(random_);
    random_ = random.next();
    accesses_left_ = 1 + random.below(2 * launch_.schedule.give_way_one_in);
}

void Detector::give_way() {
    resolve_pending();
    draw_accesses_left();
    Executor::of_this_thread().give_way();
}

std::vector<Finding> take_findings() {
    const std::scoped_lock lock(call_mutex());
    return detector_of_process ? detector_of_process->take_findings() : std::vector<Finding>();
}

// A barrier by number is a release and an acquire.
std::uintptr_t Detector::place_of_named_barrier(unsigned id) const {
    // Below all memory, and of this block alone.
    return static_cast<std::uintptr_t>(happens_before_.block_first()) * named_barriers + id;
}

void Detector::arrive_at_named_barrier(unsigned id) {
    const unsigned rank = unit::state.thread.rank;
    resolve_pending();
    happens_before_.fence(rank, true);
    happens_before_.synchronise(place_of_named_barrier(id), rank, {.reads = false, .writes = true});
}

void Detector::leave_named_barrier(unsigned id, unsigned rank) {
    happens_before_.synchronise(place_of_named_barrier(id), rank, {.reads = true, .writes = false});
}

}  // namespace gradverify::simt
