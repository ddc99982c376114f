// SPDX-License-Identifier: Apache-2.0
// The inner half of the executor: the threads of one block. Threads that can go on come first, in
// the block's order; then threads not yet started; when there are neither, it is a deadlock.
#include <bit>

#include "gradverify_simt/atomics.hpp"
#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/src/executor.hpp"

namespace gradverify::simt {
namespace {

/// A thread that has given way this often, others being there to run, while none of the block got
/// on, waits for what will not happen: some 10^8 atomics.
constexpr std::uint64_t yields_until_stuck = 100000;

}  // namespace

inline unsigned PositionSet::first_from(unsigned cursor) const {
    constexpr unsigned words = max_block_threads / 64;
    unsigned word = cursor / 64 % words;
    std::uint64_t bits = words_[word] & (~std::uint64_t{0} << (cursor % 64));
    while (bits == 0) {
        word = (word + 1) % words;
        bits = words_[word];
    }
    return word * 64 + static_cast<unsigned>(std::countr_zero(bits));
}

// Inlined into all that stops a thread, as the switch costs what it touches: each frame more on
// hundreds of stacks is a cache line more.
[[gnu::always_inline]] inline void Executor::resume_ready() {
    Fiber* const from = current_;
    const unsigned next = ready_.first_from(cursor_);
    ready_.erase(next);
    --ready_count_;
    cursor_ = next + 1;
    unit::state.thread = order_[next];
    current_ = std::exchange(fiber_of_[next], nullptr);
    if (current_ == from) return;
    ++counters_.switches;
    switch_fiber(*from, *current_);
}

[[gnu::always_inline]] inline void Executor::start_next() {
    Fiber* const from = current_;
    unit::state.thread = *unit::state.next++;
    current_ = &fibers_.take();
    ++counters_.switches;
    switch_fiber(*from, *current_);
}

[[gnu::always_inline]] inline void Executor::stop_thread(const Wait& wait) {
    current_->wait = wait;
    fiber_of_[position()] = current_;
    resume_next();
}

[[gnu::always_inline]] inline void Executor::resume_next() {
    if (ready_count_ > 0) return resume_ready();
    if (unit::state.next < order_end_) return start_next();
    if (!release_active_masks()) deadlock();
    resume_ready();
}

void Executor::leave_fast_mode() {
    fast_ = false;
    unit::state.fast_end = nullptr;
    ready_.clear();
    at_barrier_.clear();
    ready_count_ = barrier_arrived_ = cursor_ = 0;
    barrier_true_ = 0;
    for (unsigned first = 0; first < threads_; first += warp_lanes) {
        const unsigned lanes = threads_ - first;
        warps_[first / warp_lanes].begin(lanes >= warp_lanes ? 0u : ~0u << lanes);
    }
    const unsigned running = position();
    for (unsigned i = 0; i < running; ++i) {
        const unsigned rank = order_[i].rank;
        warps_[rank / warp_lanes].exit(rank % warp_lanes);
    }
    live_ = threads_ - running;
}

bool Executor::thread_returned() {
    unit::State& state = unit::state;
    if (!fast_) {
        thread_exited();
        if (live_ > 0) {
            if (ready_count_ > 0) return false;
            if (state.next < order_end_) {
                state.thread = *state.next++;
                return true;
            }
            if (!release_active_masks()) deadlock();
            return false;
        }
    }
    if (!next_block()) return false;
    state.thread = *state.next++;
    return true;
}

void Executor::thread_exited() {
    --live_;
    yields_without_progress_ = 0;
    const unsigned rank = unit::state.thread.rank;
    const unsigned released = warps_[rank / warp_lanes].exit(rank % warp_lanes);
    if (released != 0) release_lanes(rank / warp_lanes, released);
    if (barrier_arrived_ > 0 && barrier_arrived_ == live_) release_barrier();
}

void Executor::leave_fiber() {
    Fiber* const from = current_;
    fibers_.give(*from);
    if (!launch_done_) return resume_next();
    current_ = &main_;
    ++counters_.switches;
    switch_fiber(*from, main_);
}

int Executor::barrier(unit::BarrierKind kind, int predicate, unit::Place place) {
    if (fast_) leave_fast_mode();
    ++counters_.barriers;
    if (predicate != 0) ++barrier_true_;
    at_barrier_.insert(position());
    ++barrier_arrived_;
    if (barrier_arrived_ == live_) release_barrier();
    stop_thread({Wait::For::barrier, 0, place});
    switch (kind) {
        case unit::BarrierKind::count:
            return barrier_true_result_;
        case unit::BarrierKind::all:
            return barrier_true_result_ == static_cast<int>(barrier_threads_result_);
        case unit::BarrierKind::any:
            return barrier_true_result_ != 0;
        default:
            return 0;
    }
}

void Executor::release_barrier() {
    barrier_true_result_ = std::exchange(barrier_true_, 0);
    barrier_threads_result_ = barrier_arrived_;
    ready_.insert_all(at_barrier_);
    at_barrier_.clear();
    ready_count_ += barrier_arrived_;
    barrier_arrived_ = 0;
    yields_without_progress_ = 0;
    // A random order begins at another thread after each barrier.
    const bool is_random =
        schedule_.threads != Order::ascending && schedule_.threads != Order::descending;
    cursor_ = is_random ? random_.below(threads_) : 0;
}

std::uint64_t Executor::warp_collective(const unit::WarpDeposit& deposit, unit::Place place) {
    if (fast_) leave_fast_mode();
    ++counters_.warp_collectives;
    const unsigned rank = unit::state.thread.rank;
    const unsigned warp = rank / warp_lanes, lane = rank % warp_lanes;
    if ((deposit.mask >> lane & 1u) == 0) {
        trap(cudaErrorIllegalInstruction, {"a warp collective whose mask lacks its own lane"},
             place);
    }
    const unsigned released = warps_[warp].deposit(lane, deposit, place);
    if (released != 1u << lane) {
        if (released != 0) release_lanes(warp, released);
        stop_thread({Wait::For::warp, deposit.mask, place});
    }
    return warps_[warp].result(lane);
}

void Executor::release_lanes(unsigned warp, unsigned lanes) {
    unsigned first = max_block_threads;
    for (; lanes != 0; lanes &= lanes - 1) {
        const unsigned lane = static_cast<unsigned>(std::countr_zero(lanes));
        const unsigned released = position_of_[warp * warp_lanes + lane];
        make_ready(released);
        first = released < first ? released : first;
    }
    cursor_ = first;
}

bool Executor::release_active_masks() {
    bool any = false;
    for (unsigned warp = 0; warp * warp_lanes < threads_; ++warp) {
        const unsigned released = warps_[warp].complete_active();
        if (released == 0) continue;
        release_lanes(warp, released);
        any = true;
    }
    return any;
}

void Executor::yield() {
    unit::atomics_left = unit::atomics_before_yield;
    unit::State& state = unit::state;
    if (!state.in_kernel) return;
    // The count of atomics is over all threads: only one that is still here since the last time
    // may be spinning.
    if (spin_block_ != blocks_begun_ || spin_rank_ != state.thread.rank) {
        spin_block_ = blocks_begun_;
        spin_rank_ = state.thread.rank;
        return;
    }
    if (fast_) leave_fast_mode();
    const bool others = ready_count_ > 0 || state.next < order_end_;
    if (!others) return;
    if (++yields_without_progress_ > yields_until_stuck) {
        trap(cudaErrorLaunchTimeout, {"a thread spins for ever"}, launch_place_);
    }
    const unsigned yielding = position();
    if (state.next < order_end_) {
        fiber_of_[yielding] = current_;
        make_ready(yielding);
        return start_next();
    }
    make_ready(yielding);
    cursor_ = yielding + 1;
    stop_thread({});
}

void Executor::abandon_launch() {
    const auto started = static_cast<std::size_t>(unit::state.next - order_.data());
    for (std::size_t i = 0; i < started; ++i) {
        Fiber* fiber = std::exchange(fiber_of_[i], nullptr);
        if (fiber == nullptr || fiber == current_) continue;
        fiber->abandoned = true;
        fibers_.give(*fiber);
    }
    Fiber* const from = current_;
    from->abandoned = true;
    fibers_.give(*from);
    current_ = &main_;
    switch_fiber(*from, main_);
    std::terminate();
}

}  // namespace gradverify::simt
