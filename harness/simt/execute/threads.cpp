// SPDX-License-Identifier: Apache-2.0
// The inner half of the executor: the threads of one block. Threads that can go on run first, in
// the block's order, then threads not yet started; without either, it is a deadlock.
#include <algorithm>
#include <bit>
#include <exception>
#include <utility>
#include <vector>

#include "gradverify_simt/atomics.hpp"
#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/execute/block_work.hpp"
#include "harness/simt/execute/executor.hpp"
#include "harness/simt/execute/watcher.hpp"

namespace gradverify::simt {
namespace {

/// A thread that has given way this often (some 10^8 atomics), while no thread of the block got on,
/// waits for ever. Without another thread or block to give way to, it may just do many atomics.
constexpr std::uint64_t yields_until_stuck = 100000;
constexpr std::uint64_t yields_alone_until_stuck = 1000000;
/// The same for blocks that are left for others.
constexpr std::uint64_t parkings_until_stuck = 20000;
/// A wait for asynchronous work that has ended without it this often, while no thread got on, is
/// for ever.
constexpr unsigned timeouts_until_stuck = 100;

}  // namespace

// The hot path is inlined into `barrier` and `warp_collective`, with the switch as the last call
// where possible: each further frame on hundreds of stacks is a further cache line.
[[gnu::always_inline]] inline Fiber& Executor::take_ready() {
    const ReadyPositions::Taken taken = ready_.take();
    running_ = taken.position;
    unit::state.thread = order_[taken.position];
    current_ = fiber_of_[taken.position];
    if (const Fiber* upcoming = fiber_of_[taken.upcoming]) prefetch_stack(upcoming->stopped_at);
    return *current_;
}

[[gnu::always_inline]] inline void Executor::start_thread() {
    unit::State& state = unit::state;
    running_ = static_cast<unsigned>(state.next - order_.data());
    fiber_of_[running_] = current_;
    state.thread = *state.next++;
}

[[gnu::always_inline]] inline void Executor::stop_thread() {
    if (ready_.is_empty()) return start_next();
    Fiber& from = *current_;
    Fiber& to = take_ready();
    if (&from == &to) return;
    switch_fiber(from, to);
}

[[gnu::noinline]] void Executor::start_next() {
    if (unit::state.next >= order_end_) [[unlikely]]
        return resume_when_stuck();
    Fiber& to = fibers_.next();
    if (to.stopped_at == nullptr) [[unlikely]]
        return start_on_new_fiber();
    fibers_.take_next();
    Fiber& from = *std::exchange(current_, &to);
    start_thread();
    switch_fiber_elsewhere(from, to, to.launch == unit::state.launch);
}

[[gnu::noinline]] void Executor::start_on_new_fiber() {
    fibers_.prepare_next();
    start_next();
}

[[gnu::noinline]] void Executor::resume_when_stuck() {
    if (go_on()) return stop_thread();
    if (!waits_for_cluster()) deadlock();
    leave_block();
}

void Executor::leave_fast_mode(unit::Place place) {
    if (!unit::state.in_kernel) {
        trap(cudaErrorLaunchFailure, {"a barrier or a warp collective outside of a kernel"}, place);
    }
    const unsigned first = position_of_[unit::state.thread.rank];
    fast_ = false;
    unit::state.fast_end = nullptr;
    alive_.clear();
    ready_.assign(alive_, 0);
    ready_.move_cursor(0);
    barrier_arrived_ = 0;
    barrier_true_ = 0;
    for (NamedBarrier& one : named_barriers_) one = {};
    for (NamedBarrier& one : warpgroup_meetings_) one = {};
    suspended_.clear();
    for (unsigned warp = 0; warp * warp_lanes < threads_; ++warp) {
        const unsigned lanes = threads_ - warp * warp_lanes;
        warps_[warp].begin(lanes >= warp_lanes ? 0u : ~0u << lanes,
                           &warp_results_[std::size_t{warp} * warp_lanes]);
    }
    for (unsigned i = 0; i < first; ++i) {
        const unsigned rank = order_[i].rank;
        warps_[rank / warp_lanes].exit(rank % warp_lanes);
    }
    for (unsigned i = first; i < threads_; ++i) alive_.insert(i);
    live_ = threads_ - first;
    cluster_waiting_.clear();
    cluster_arrival_.fill(0);
    leave_cluster_early(first);
    running_ = first;
    fiber_of_[first] = current_;
}

bool Executor::thread_returned() {
    unit::State& state = unit::state;
    if (!fast_) thread_exited();
    Fiber& from = *current_;
    Fiber* to = &main_;
    if (fast_ || live_ == 0) {
        if (cluster_.size > 1) [[unlikely]]
            end_cluster_block();
        if (next_block()) {
            state.thread = *state.next++;
            return true;
        }
        if ((state.is_cooperative || must_resume()) && resume_block()) [[unlikely]]
            to = &take_ready();
        else
            current_ = &main_;
    } else {
        if (ready_.is_empty() && state.next < order_end_) {
            start_thread();
            return true;
        }
        if (ready_.is_empty() && !go_on()) [[unlikely]] {
            if (!waits_for_cluster() && (!at_grid_barrier_ || barrier_arrived_ != live_))
                deadlock();
            park();
            if (next_block()) {
                state.thread = *state.next++;
                return true;
            }
            resume_block();
        }
        to = &take_ready();
    }
    // Another thread of the launch starts on this fiber by the switch alone.
    from.launch = state.launch;
    fibers_.give(from);
    return switch_fiber_elsewhere(from, *to, false);
}

void Executor::thread_exited() {
    fiber_of_[running_] = nullptr;
    alive_.erase(running_);
    --live_;
    thread_got_on();
    const unsigned rank = unit::state.thread.rank;
    const unsigned released = warps_[rank / warp_lanes].exit(rank % warp_lanes);
    if (released != 0) release_lanes(rank / warp_lanes, released);
    if (barrier_arrived_ > 0 && barrier_arrived_ == live_ && !at_grid_barrier_) release_barrier();
    for (unsigned id = 0; id < named_barriers; ++id)
        if (named_barriers_[id].is_of_block && named_barriers_[id].arrived == live_)
            release_named_barrier(id);
    if (std::exchange(cluster_arrival_[rank], 0) == cluster_.phase) --cluster_.arrived;
    leave_cluster_early(1);
}

void Executor::stop_elsewhere() { stop_thread(); }

void Executor::barrier(unit::Place place) {
    if (fast_) [[unlikely]]
        return first_at_barrier(place);
    current_->wait = {place.file, place.line, 0};
    if (++barrier_arrived_ == live_) [[unlikely]]
        return last_at_barrier();
    stop_thread();
}

[[gnu::noinline]] void Executor::first_at_barrier(unit::Place place) {
    leave_fast_mode(place);
    barrier(place);
}

[[gnu::noinline]] void Executor::last_at_barrier() {
    if (at_grid_barrier_) return leave_block();
    release_barrier();
    stop_thread();
}

void Executor::named_barrier(unsigned id, unsigned count, bool waits, unit::Place place) {
    if (fast_) leave_fast_mode(place);
    if (id >= named_barriers || count % warp_lanes != 0 || count > max_block_threads) {
        trap(cudaErrorIllegalInstruction,
             {"a barrier whose number is not below 16, or whose threads are not whole warps"},
             place);
    }
    NamedBarrier& barrier = named_barriers_[id];
    const unsigned needed =
        count == 0 ? (threads_ + warp_lanes - 1) / warp_lanes * warp_lanes : count;
    if (barrier.arrived > 0 && barrier.count != needed)
        trap(cudaErrorIllegalInstruction,
             {"threads meet at one barrier with different numbers of threads"}, place);
    barrier.count = needed;
    if (watching != nullptr) [[unlikely]]
        watching->arrive_at_named_barrier(id);
    current_->wait = {place.file, place.line, 0};
    barrier.is_of_block = count == 0;
    if (++barrier.arrived == (count == 0 ? live_ : count)) {
        if (waits && watching != nullptr) [[unlikely]]
            watching->leave_named_barrier(id, unit::state.thread.rank);
        release_named_barrier(id);
    } else if (waits) {
        barrier.waiting.push_back(static_cast<std::uint16_t>(running_));
        stop_thread();
    }
}

void Executor::release_named_barrier(unsigned id) {
    for (const std::uint16_t position : named_barriers_[id].waiting) {
        ready_.insert(position);
        // Not when it goes on: others may have come to the barrier's next use by then.
        if (watching != nullptr) watching->leave_named_barrier(id, order_[position].rank);
    }
    named_barriers_[id] = {};
    thread_got_on();
}

bool Executor::suspend(std::uintptr_t key, std::string (*text)(std::uintptr_t), unit::Place place) {
    if (fast_) leave_fast_mode(place);
    current_->wait = {place.file, place.line, 0};
    bool is_woken = false;
    suspended_.push_back({running_, key, text, &is_woken});
    stop_thread();
    return is_woken;
}

void Block::wake(std::uintptr_t key) {
    std::erase_if(suspended_, [&](const SuspendedThread& thread) {
        if (thread.key != key) return false;
        *thread.is_woken = true;
        ready_.insert(thread.position);
        return true;
    });
}

void Executor::wake(std::uintptr_t key) {
    thread_got_on();
    Block::wake(key);
    if (cluster_.size > 1)
        for (const auto& block : spinning_blocks_) block->threads.wake(key);
}

int Executor::barrier_vote(unit::BarrierVote vote, int predicate, unit::Place place) {
    if (fast_) leave_fast_mode(place);
    if (predicate != 0) ++barrier_true_;
    barrier(place);
    if (vote == unit::BarrierVote::count) return barrier_true_result_;
    if (vote == unit::BarrierVote::any) return barrier_true_result_ != 0;
    return barrier_true_result_ == static_cast<int>(barrier_threads_result_);
}

[[gnu::noinline]] void Executor::release_barrier() {
    barrier_true_result_ = std::exchange(barrier_true_, 0);
    barrier_threads_result_ = barrier_arrived_;
    ready_.assign(alive_, std::exchange(barrier_arrived_, 0));
    thread_got_on();
    if (watching != nullptr) [[unlikely]]
        watching->barrier_released();
    // A random order begins at another thread after each barrier.
    ready_.move_cursor(is_random(schedule_.threads) ? random_.below(threads_) : 0);
}

void Executor::warp_collective(unit::WarpOp op, unsigned mask, std::uint64_t value,
                               unsigned source_lane, unit::Place place) {
    Executor* const self = executor_of_thread;
    if (self == nullptr || self->fast_) [[unlikely]]
        return begin_or_end_collective(op, mask, value, source_lane, place);
    const unsigned rank = unit::state.thread.rank;
    if (!self->warps_[rank / warp_lanes].join(rank % warp_lanes, {op, mask, value, source_lane}))
        return begin_or_end_collective(op, mask, value, source_lane, place);
    self->current_->wait = {place.file, place.line, mask};
    self->stop_thread();
}

[[gnu::noinline]] void Executor::begin_or_end_collective(unit::WarpOp op, unsigned mask,
                                                         std::uint64_t value, unsigned source_lane,
                                                         unit::Place place) {
    Executor& self = of_this_thread();
    if (self.fast_) self.leave_fast_mode(place);
    const unsigned rank = unit::state.thread.rank;
    const unsigned warp = rank / warp_lanes, lane = rank % warp_lanes;
    if ((mask >> lane & 1u) == 0) {
        self.trap(cudaErrorIllegalInstruction, {"a warp collective whose mask lacks its own lane"},
                  place);
    }
    const unsigned released =
        self.warps_[warp].deposit(lane, {op, mask, value, source_lane}, place);
    if (released == 1u << lane) return;
    if (released != 0) self.release_lanes(warp, released);
    self.current_->wait = {place.file, place.line, mask};
    self.stop_thread();
}

void Executor::release_lanes(unsigned warp, unsigned lanes) {
    const std::uint16_t* positions = &position_of_[std::size_t{warp} * warp_lanes];
    if (schedule_.threads == Order::ascending || schedule_.threads == Order::random_warps) {
        ready_.insert_bits(positions[0], lanes);
        ready_.move_cursor(positions[std::countr_zero(lanes)]);
        return;
    }
    unsigned first = max_block_threads;
    for (; lanes != 0; lanes &= lanes - 1) {
        const unsigned released = positions[std::countr_zero(lanes)];
        ready_.insert(released);
        first = released < first ? released : first;
    }
    ready_.move_cursor(first);
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

bool Executor::release_suspended() {
    if (suspended_.empty() || ++timeouts_ > timeouts_until_stuck) return false;
    for (const SuspendedThread& thread : suspended_) ready_.insert(thread.position);
    suspended_.clear();
    return true;
}

bool Executor::go_on() {
    if (release_active_masks()) return true;
    while (ready_.is_empty() && BlockWork::complete_one_running()) {
    }
    if (!ready_.is_empty()) return true;
    return !another_block_can_go_on() && release_suspended();
}

void Executor::yield() {
    unit::atomics_left = unit::atomics_before_yield;
    unit::State& state = unit::state;
    if (!state.in_kernel) return;
    // The count of atomics is over all threads: only the thread that was here last time may spin.
    if (spin_block_ != launch_.begun || spin_rank_ != state.thread.rank) {
        spin_block_ = launch_.begun;
        spin_rank_ = state.thread.rank;
        return;
    }
    if (fast_) leave_fast_mode(launch_.place);
    // Without another thread, what this one waits for may be asynchronous.
    const bool others =
        !ready_.is_empty() || state.next < order_end_ || (!suspended_.empty() && go_on());
    ++yields_without_progress_;
    // Once round the block, it is another block's turn.
    const bool is_round = !others || yields_without_progress_ % (live_ + 1) == live_;
    if (is_round) BlockWork::complete_one_running();
    const bool in_cluster = cluster_.size > 1;
    const bool others_begin =
        in_cluster ? launch_.begun % cluster_.size != 0 : launch_.begun < launch_.blocks;
    const bool other_blocks = others_begin || !spinning_blocks_.empty();
    if ((state.is_cooperative || in_cluster) && is_round && other_blocks) {
        if (++yields_of_grid_ <= parkings_until_stuck) {
            ready_.insert(running_);
            ready_.move_cursor(running_ + 1);
            return leave_block();
        }
        yields_without_progress_ = yields_alone_until_stuck + 1;
    }
    if (yields_without_progress_ > (others ? yields_until_stuck : yields_alone_until_stuck)) {
        trap(
            cudaErrorLaunchTimeout,
            {"a thread spins for ever",
             state.is_cooperative || in_cluster
                 ? ""
                 : "; to wait for another block needs a cooperative launch, or, for one before it, "
                   "that the kernel declares blocks_begin_in_order()"},
            launch_.place);
    }
    if (others) give_way();
}

Fiber& Executor::take_first_ready() { return take_ready(); }

void Executor::give_way() {
    if (fast_) leave_fast_mode(launch_.place);
    const bool starts_another = unit::state.next < order_end_;
    if (!starts_another && ready_.is_empty()) return;
    const unsigned yielding = running_;
    ready_.insert(yielding);
    if (starts_another) return start_next();
    ready_.move_cursor(yielding + 1);
    stop_thread();
}

void Executor::abandon_launch() {
    const auto started = static_cast<std::size_t>(unit::state.next - order_.data());
    for (std::size_t i = 0; i < started; ++i) {
        Fiber* fiber = std::exchange(fiber_of_[i], nullptr);
        if (fiber != nullptr && fiber != current_) forget(*fiber);
    }
    barrier_arrived_ = 0;
    is_abandoned_ = true;
    give_back_parked_fibers();
    forget(*current_);
    current_ = &main_;
    switch_fiber_elsewhere(abandoned_, main_, false);
    std::terminate();
}

}  // namespace gradverify::simt
