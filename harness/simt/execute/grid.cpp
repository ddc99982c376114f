// SPDX-License-Identifier: Apache-2.0
// Cooperative launches: blocks still run one at a time, but one whose threads all wait at the grid
// barrier, or spin, is left for the next. Blocks not yet begun come first, then those that can go
// on; when there are neither, all must be at the grid barrier, which then releases them.
#include "harness/simt/execute/grid.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/faults/source_line.hpp"
#include "harness/simt/races/detector.hpp"

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
    auto block = std::make_unique<ParkedBlock>();
    block->is_at_grid_barrier = std::exchange(at_grid_barrier_, false);
    block->index = unit::state.block_index;
    block->next = unit::state.next;
    block->live = live_;
    block->barrier_arrived = std::exchange(barrier_arrived_, 0);
    block->barrier_true = barrier_true_;
    block->ready = ready_;
    block->alive = alive_;
    block->fiber_of = fiber_of_;
    block->order = order_;
    block->position_of = position_of_;
    block->warps = warps_;
    block->warp_results = warp_results_;
    shared_.save(block->static_shared, block->dynamic_shared);
    fiber_of_.fill(nullptr);
    auto& where = block->is_at_grid_barrier ? waiting_blocks_ : spinning_blocks_;
    where.push_back(std::move(block));
}

void Executor::put_back(const ParkedBlock& block) {
    unit::state.block_index = block.index;
    unit::state.next = block.next;
    unit::state.fast_end = nullptr;
    fast_ = false;
    live_ = block.live;
    barrier_arrived_ = block.barrier_arrived;
    barrier_true_ = block.barrier_true;
    ready_ = block.ready;
    alive_ = block.alive;
    fiber_of_ = block.fiber_of;
    order_ = block.order;
    position_of_ = block.position_of;
    warps_ = block.warps;
    warp_results_ = block.warp_results;
    table_order_ = Order::random_threads;  // another block's may have been drawn since
    spin_block_ = 0;
    shared_.restore(block.static_shared, block.dynamic_shared);
    if (detecting != nullptr) detecting->resume_block();
    if (block.is_at_grid_barrier) release_barrier();
}

bool Executor::has_other_blocks() const {
    return blocks_begun_ < blocks_ || !spinning_blocks_.empty();
}

/// Goes on with a block that was left; false when none is, and so the launch has ended.
bool Executor::resume_block() {
    if (spinning_blocks_.empty()) {
        if (waiting_blocks_.empty()) return false;
        if (waiting_blocks_.size() < blocks_) {
            record_grid_deadlock();
            abandon_launch();
        }
        std::swap(spinning_blocks_, waiting_blocks_);
        yields_of_grid_ = 0;
    }
    const std::unique_ptr<ParkedBlock> block = std::move(spinning_blocks_.front());
    spinning_blocks_.pop_front();
    put_back(*block);
    return true;
}

/// Leaves the running block, one of whose threads calls; returns when that thread is resumed.
void Executor::leave_block() {
    Fiber& from = *current_;
    park();
    if (next_block()) {
        if (fibers_.next().stopped_at == nullptr) fibers_.prepare_next();
        Fiber& to = fibers_.next();
        fibers_.take_next();
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

void Executor::spin_elsewhere() {
    ready_.insert(running_);
    ready_.move_cursor(running_ + 1);
    leave_block();
}

[[gnu::noinline]] void Executor::record_grid_deadlock() {
    fail(cudaErrorLaunchFailure,
         "deadlock: " + std::to_string(waiting_blocks_.size()) + " of " + std::to_string(blocks_) +
             " blocks wait at the grid barrier of " + short_path(grid_barrier_place_.file) + ":" +
             std::to_string(grid_barrier_place_.line) + ", and the others have ended; " +
             launch_text());
}

// Frees nothing, as it may run in a signal handler: the next launch forgets the blocks.
void Executor::give_back_parked_fibers() {
    for (const auto* blocks : {&spinning_blocks_, &waiting_blocks_}) {
        for (const auto& block : *blocks) {
            for (Fiber* fiber : block->fiber_of) {
                if (fiber == nullptr || fiber == current_) continue;
                fiber->stopped_at = nullptr;
                fibers_.give(*fiber);
            }
        }
    }
}

}  // namespace gradverify::simt
