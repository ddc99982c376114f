// SPDX-License-Identifier: Apache-2.0
// The executor of one OS thread: runs a launch block by block, the threads of a block as plain
// calls until one blocks, then on fibers. Decides who runs next, who waits, and what a deadlock is.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <string>

#include "gradverify_simt/state.hpp"
#include "harness/simt/execute/block.hpp"
#include "harness/simt/execute/cluster.hpp"
#include "harness/simt/execute/fault.hpp"
#include "harness/simt/execute/fiber.hpp"
#include "harness/simt/execute/launch.hpp"
#include "harness/simt/execute/left_locals.hpp"
#include "harness/simt/runtime/buffers.hpp"
#include "harness/simt/runtime/errors.hpp"
#include "harness/simt/runtime/text.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify::simt {

static_assert(FiberPool::capacity >= max_block_threads);

class Watcher;
class Executor;
GRADVERIFY_SIMT_STATIC_TLS extern constinit thread_local Executor* executor_of_thread;

class Executor : private Block {
  public:
    static Executor& of_this_thread() {
        if (executor_of_thread == nullptr) [[unlikely]]
            make_for_this_thread();
        return *executor_of_thread;
    }
    Executor();

    static void set_schedule(const Schedule& schedule);

    /// `watcher` is told what happens, unless it is null.
    void launch(const unit::LaunchConfig& config, const char* kernel, unit::Entry entry,
                const LaunchBody& body, Watcher* watcher);

    // The calls of a running thread.
    bool thread_returned();
    void barrier(unit::Place place);
    void cluster_arrive(unit::Place place, bool releases);
    /// Waits for all threads of the cluster that have not exited.
    void cluster_wait(unit::Place place);
    void begin_in_clusters(dim3 cluster);
    /// Waits for all blocks of a cooperative launch.
    void grid_barrier(unit::Place place);
    /// Barrier `id` for `count` threads, 0 for all of the block; a thread may arrive without
    /// waiting.
    void named_barrier(unsigned id, unsigned count, bool waits, unit::Place place);
    /// Waits for the running thread's warpgroup; the last to come does `act` before all go on.
    void meet_in_warpgroup(void (*act)(unsigned warpgroup), unit::Place place);
    /// Waits for `wake(key)`; false: it did not come, and no thread of the cluster could go on.
    /// `text` says of the key what is waited for.
    bool suspend(std::uintptr_t key, std::string (*text)(std::uintptr_t), unit::Place place);
    void wake(std::uintptr_t key);
    int barrier_vote(unit::BarrierVote vote, int predicate, unit::Place place);
    /// Static, as all arguments then fit in registers.
    static void warp_collective(unit::WarpOp op, unsigned mask, std::uint64_t value,
                                unsigned source_lane, unit::Place place);
    void yield();
    /// Lets another thread of the block run, if there is one.
    void give_way();
    void place_shared(unit::SharedSlot& slot, std::size_t bytes, std::size_t alignment);
    /// Plain pointers that make one text, as `trap` unwinds no frame.
    using TrapText = std::initializer_list<const char*>;
    /// Ends the launch. **Errors** std::runtime_error outside of a kernel.
    [[noreturn]] void trap(int cuda_error, TrapText text, unit::Place place);
    /// Where the lower 18 bits of an address within shared memory lie, as in a matrix descriptor.
    const char* shared_at(unsigned address) const { return cluster_.shared().at(address); }
    void* place_left_local(std::size_t bytes) { return left_locals_.place(bytes); }
    /// Whether only one thread may touch it.
    bool has_stack(const void* address) const {
        return fibers_.has_stack(address) || left_locals_.has(address);
    }
    bool has_stack_guard(const void* address) const { return fibers_.has_guard(address); }
    /// What is known of an unmapped address; "" if nothing.
    const char* describe(const void* address) const {
        return has_stack_guard(address) ? "the stack of a device thread overflowed"
                                        : describe_address(address);
    }
    /// Ends the launch, from the signal handler.
    [[noreturn]] void abandon_at(const Fault& fault);

    static void fail(int cuda_error, const std::string& text) {
        OfCall<Errors>()->fail(cuda_error, text);
    }
    const std::uint64_t number = ++executors_made_;
    inline static std::uint64_t accesses_checked = 0;  ///< of the call, whoever launches
    inline static std::uint64_t threads_launched = 0;  ///< likewise

  private:
    friend void run_fiber();
    static void make_for_this_thread();

    // Blocks.
    void set_dimensions(const unit::LaunchConfig& config);
    void begin_block();
    static void count_block();
    bool next_block();

    // Threads of a block.
    void leave_fast_mode(unit::Place place);
    void thread_exited();
    /// Stops the running thread, which waits or is ready; returns when it is resumed.
    void stop_thread();
    void stop_elsewhere();  ///< the same, for other files
    Fiber& take_ready();
    void start_thread();
    void start_next();
    void start_on_new_fiber();
    void resume_when_stuck();
    void first_at_barrier(unit::Place place);
    void last_at_barrier();
    void release_barrier();
    void release_named_barrier(unsigned id);
    static void begin_or_end_collective(unit::WarpOp op, unsigned mask, std::uint64_t value,
                                        unsigned source_lane, unit::Place place);
    void release_lanes(unsigned warp, unsigned lanes);
    bool release_active_masks();
    /// When no thread can go on: ends waits that need no thread. False: it is a deadlock.
    bool go_on();
    bool release_suspended();
    void thread_got_on() { yields_without_progress_ = yields_of_grid_ = timeouts_ = 0; }

    // Blocks of a cluster (clusters.cpp).
    void leave_cluster_early(unsigned threads);
    void complete_cluster_barrier();
    void release_cluster_waiting();
    /// No thread of the running block goes on before another block does.
    bool waits_for_cluster() const {
        return cluster_.size > 1 && !(cluster_waiting_.empty() && suspended_.empty());
    }
    bool can_go_on(const ParkedBlock& block) const;
    bool another_block_can_go_on() const;
    /// The blocks that run at a time have all begun, and some were left.
    bool must_resume() const {
        return cluster_.size > 1 && launch_.begun % cluster_.size == 0 &&
               !(waiting_blocks_.empty() && spinning_blocks_.empty());
    }
    void end_cluster_block();
    void record_cluster_deadlock();

    // Blocks that wait for others (grid.cpp).
    void park();
    void put_back(const ParkedBlock& block);
    void put_next_back();
    bool resume_block();
    void leave_block();
    Fiber& take_first_ready();
    void record_grid_deadlock();
    void give_back_parked_fibers();
    /// Gives back a fiber whose frames will not go on.
    void forget(Fiber& fiber) {
        fiber.stopped_at = nullptr;
        fibers_.give(fiber);
    }

    void record_trap(int cuda_error, TrapText text, unit::Place place);
    void record_fault();
    void record_deadlock();
    [[noreturn]] void abandon_launch();
    [[noreturn]] void deadlock();
    std::string who_waits() const;
    std::string wait_text(unsigned position) const;
    std::string thread_text() const;

    ThreadOrder thread_order_;
    int barrier_true_result_ = 0;
    unsigned barrier_threads_result_ = 0;

    Launch launch_;
    inline static std::atomic<std::uint64_t> executors_made_ = 0;
    // Of the call, whoever launches.
    inline static Schedule schedule_;
    inline static std::uint64_t launches_scheduled_ = 0;
    Random random_;
    Fault fault_;  ///< ended the running launch
    SignalStack signal_stack_;
    std::string thrown_;  ///< the text of the kernel's exception

    // A thread that spins on an atomic gives way; see yield().
    std::uint64_t spin_block_ = 0;
    unsigned spin_rank_ = 0;
    std::uint64_t yields_without_progress_ = 0;
    unsigned timeouts_ = 0;  ///< of suspended threads, since a thread got on

    // Cooperative launches.
    unit::Place grid_barrier_place_{};
    std::deque<std::unique_ptr<ParkedBlock>> waiting_blocks_, spinning_blocks_;
    std::uint64_t yields_of_grid_ = 0;  ///< how often a spinning thread left its block

    Cluster cluster_;
    Fiber main_;
    bool is_abandoned_ = false;  ///< the running launch, before its end
    dim3 needed_cluster_;        ///< of the running launch, which has none
    Fiber abandoned_;            ///< the left side of a switch that never returns
    FiberPool fibers_;
    LeftLocals left_locals_;
};

}  // namespace gradverify::simt
