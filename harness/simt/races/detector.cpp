// SPDX-License-Identifier: Apache-2.0
// The detector's side of a launch. is_race.cpp decides what is wrong with an access.
#include "harness/simt/races/detector.hpp"

#include <memory>
#include <utility>

#include "harness/simt/execute/executor.hpp"
#include "harness/simt/runtime/buffers.hpp"
#include "harness/simt/runtime/device_memory.hpp"

namespace gradverify::simt {

constinit thread_local Detector* detecting = nullptr;

namespace {

thread_local std::unique_ptr<Detector> detector_owner;

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

Detector& Detector::of_this_thread() {
    if (!detector_owner) detector_owner = std::make_unique<Detector>();
    return *detector_owner;
}

Detector::Detector() : shadow_([this](ShadowPage& page) { classify(page); }) {}

void Detector::begin_launch(const Launch& launch) {
    launch_ = launch;
    forget_async();
    watches_registers_ = false;
    if (shadow_.bytes() > shadow_bytes_kept || happens_before_.is_near_end()) {
        shadow_.clear();
        happens_before_.restart();
    }
    const std::uint64_t generation = device_memory_generation() + named_buffers_generation();
    if (std::exchange(memory_generation_, generation) != generation) shadow_.forget_kinds();
    // A static variable is allowed when it is placed.
    for (const NamedBuffer& variable : shared_variables_)
        shadow_.set_forbidden(variable.begin, variable.end, true);
    const SharedArenas& arenas = launch.arenas;
    const auto* const dynamic = reinterpret_cast<const std::byte*>(arenas.dynamic);
    const std::byte* const dynamic_end = dynamic + arenas.dynamic_bytes;
    shadow_.set_forbidden(dynamic, reinterpret_cast<const std::byte*>(arenas.dynamic_end), true);
    shadow_.set_forbidden(dynamic, dynamic_end, false);
    shared_variables_ = {{"dynamic shared memory", dynamic, dynamic_end, 0}};
    happens_before_.begin_launch();
    random_ = Random(launch.schedule.seed + launch.number).next();
    draw_accesses_left();
}

std::uint64_t Detector::end_launch() {
    resolve_pending();
    report_deferred_races();
    return std::exchange(accesses_, 0);
}

void Detector::begin_block() {
    resolve_pending();
    forget_async();
    const dim3& block = unit::state.block_dim;
    happens_before_.begin_block(unit::state.block_index, block.x * block.y * block.z);
    proxy_fences_.begin_block();
    block_began_at_ = ++register_time_;
    registers_fenced_at_.fill(block_began_at_);
    first_arrival_ = {};
    shared_is_restored_ = false;
}

void Detector::resume_block() {
    resolve_pending();
    happens_before_.begin_launch();
    begin_block();
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
    const auto* const begin = static_cast<const std::byte*>(address);
    shadow_.set_forbidden(begin, begin + bytes, false);
    shared_variables_.push_back({variable_of(function), begin, begin + bytes, element_bytes});
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
    return detector_owner ? detector_owner->take_findings() : std::vector<Finding>();
}

}  // namespace gradverify::simt
