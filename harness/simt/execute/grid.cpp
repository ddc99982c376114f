// SPDX-License-Identifier: Apache-2.0
// Blocks that wait for others, of a cooperative launch or of a cluster: one whose threads all wait,
// or spin, is left for another: one not yet begun, then one that can go on.
#include <algorithm>
#include <memory>
#include <utility>

#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/execute/block_work.hpp"
#include "harness/simt/execute/executor.hpp"
#include "harness/simt/execute/watcher.hpp"
#include "harness/simt/runtime/source_line.hpp"

namespace gradverify::simt {

void Executor::grid_barrier(unit::Place place) {
    if (!unit::state.is_cooperative) {
        trap(cudaErrorLaunchFailure,
             {"a barrier of the grid needs a cooperative launch (cudaLaunchCooperativeKernel)"},
             place);
    }
    at_grid_barrier_ = true;
    grid_barrier_place_ = place;
    barrier(place);
}

/// Puts the running block aside.
void Executor::park() {
    const bool is_clustered = cluster_.size > 1;
    // Blocks of a cluster have their own.
    if (!is_clustered) BlockWork::leave_running();
    auto block = std::make_unique<ParkedBlock>(
        ParkedBlock{*this, unit::state.block_index, unit::state.cluster_rank, unit::state.next,
                    is_clustered ? SavedShared() : cluster_.shared().save()});
    if (watching != nullptr && is_clustered) watching->leave_cluster_block();
    fiber_of_.fill(nullptr);
    barrier_arrived_ = 0;
    cluster_waiting_.clear();
    // One with a thread that waits at an mbarrier may also be woken.
    const bool waits =
        !block->threads.cluster_waiting_.empty() && suspended_.empty() && ready_.is_empty();
    suspended_.clear();
    auto& where =
        std::exchange(at_grid_barrier_, false) || waits ? waiting_blocks_ : spinning_blocks_;
    where.push_back(std::move(block));
}

void Executor::put_back(const ParkedBlock& block) {
    static_cast<Block&>(*this) = block.threads;
    unit::state.block_index = block.index;
    unit::state.next = block.next;
    unit::state.fast_end = nullptr;
    thread_order_.forget();  // another block's may have been drawn since
    spin_block_ = 0;
    unit::state.cluster_rank = block.rank;
    cluster_.enter_block();
    if (cluster_.size > 1) {
        if (watching != nullptr) watching->resume_cluster_block();
        return release_cluster_waiting();
    }
    cluster_.shared().restore(block.shared);
    if (watching != nullptr) watching->resume_block();
    if (std::exchange(at_grid_barrier_, false)) release_barrier();
}

/// Goes on with a block that was left; false when there is none, so that the launch has ended.
bool Executor::resume_block() {
    if (spinning_blocks_.empty()) {
        if (waiting_blocks_.empty()) return false;
        if (cluster_.size > 1) {
            record_cluster_deadlock();
            abandon_launch();
        }
        if (waiting_blocks_.size() < launch_.blocks) {
            record_grid_deadlock();
            abandon_launch();
        }
        std::swap(spinning_blocks_, waiting_blocks_);
        yields_of_grid_ = 0;
    }
    put_next_back();
    while (ready_.is_empty() && !go_on()) {
        if (!another_block_can_go_on()) deadlock();
        park();
        put_next_back();
    }
    return true;
}

void Executor::put_next_back() {
    auto next = spinning_blocks_.begin();
    if (cluster_.size > 1) {
        next = std::ranges::find_if(spinning_blocks_,
                                    [&](const auto& block) { return can_go_on(*block); });
        if (next == spinning_blocks_.end()) next = spinning_blocks_.begin();
    }
    const std::unique_ptr<ParkedBlock> block = std::move(*next);
    spinning_blocks_.erase(next);
    put_back(*block);
}

/// Leaves the running block; returns when the calling thread is resumed.
void Executor::leave_block() {
    Fiber& from = *current_;
    park();
    if (next_block()) {
        Fiber& to = fibers_.take_prepared();
        current_ = &to;
        unit::state.thread = *unit::state.next++;
        switch_fiber_elsewhere(from, to, to.launch == unit::state.launch);
        return;
    }
    resume_block();
    Fiber& to = take_first_ready();
    if (&to == &from) return;
    switch_fiber(from, to);
}

[[gnu::noinline]] void Executor::record_grid_deadlock() {
    fail(cudaErrorLaunchFailure,
         "deadlock: " + std::to_string(waiting_blocks_.size()) + " of " +
             std::to_string(launch_.blocks) + " blocks wait at the grid barrier of " +
             short_place(grid_barrier_place_.file, grid_barrier_place_.line) +
             ", and the others have ended; " + launch_.text());
}

// Frees nothing, as a signal handler may call it; the next launch forgets the blocks.
void Executor::give_back_parked_fibers() {
    for (const auto* blocks : {&spinning_blocks_, &waiting_blocks_})
        for (const auto& block : *blocks)
            for (Fiber* fiber : block->threads.fiber_of_)
                if (fiber != nullptr && fiber != current_) forget(*fiber);
}

}  // namespace gradverify::simt
