// SPDX-License-Identifier: Apache-2.0
// The executor of one OS thread: runs a launch block by block, the threads of a block as plain
// calls until one blocks, then on fibers. Decides who runs next, who waits, and what a deadlock
// is; knows nothing of the run-time API but the number of the last error.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "gradverify_simt/state.hpp"
#include "harness/simt/simt.hpp"
#include "harness/simt/src/fiber.hpp"
#include "harness/simt/src/shared_memory.hpp"
#include "harness/simt/src/warp.hpp"

namespace gradverify::simt {

constexpr unsigned max_block_threads = 1024;
constexpr unsigned warp_lanes = 32;

/// A set of positions in a block's order.
class PositionSet {
  public:
    void clear() { words_.fill(0); }
    void insert(unsigned i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
    void erase(unsigned i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
    void insert_all(const PositionSet& other) {
        for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= other.words_[w];
    }
    /// The first member from `cursor` on, going round; the set must not be empty.
    unsigned first_from(unsigned cursor) const;

  private:
    std::array<std::uint64_t, max_block_threads / 64> words_{};
};

/// Numbers from a seed; fast and good enough to shuffle.
class Random {
  public:
    explicit Random(std::uint64_t seed = 0) : state_(seed) {}
    std::uint64_t next();
    unsigned below(unsigned limit) { return static_cast<unsigned>(((next() >> 32) * limit) >> 32); }

  private:
    std::uint64_t state_;
};

class Executor;
extern constinit thread_local Executor* executor_of_thread;

class Executor {
  public:
    static Executor& of_this_thread() {
        if (executor_of_thread == nullptr) [[unlikely]]
            make_for_this_thread();
        return *executor_of_thread;
    }
    Executor();

    void set_schedule(const Schedule& schedule);
    std::string take_error();
    Counters take_counters();

    void launch(const unit::LaunchConfig& config, const char* kernel, unit::Entry entry,
                const void* body);

    // What a running thread of a block asks for.
    bool thread_returned();
    int barrier(unit::BarrierKind kind, int predicate, unit::Place place);
    std::uint64_t warp_collective(const unit::WarpDeposit& deposit, unit::Place place);
    void yield();
    void place_shared(unit::SharedSlot& slot, std::size_t bytes, std::size_t alignment);
    /// Ends the launch. The text is `before` and `what` and `after`; plain pointers, as no frame
    /// from here on is unwound. **Errors** std::runtime_error outside of a kernel.
    struct TrapText {
        const char* before = "";
        const char* what = "";
        const char* after = "";
    };
    [[noreturn]] void trap(int cuda_error, const TrapText& text, unit::Place place);

    /// Records an error of the run-time API or of a launch; the text is kept when it is the first.
    void fail(int cuda_error, const std::string& text);
    int last_cuda_error = 0;

    /// The most dynamic shared memory that any kernel was allowed beyond the default.
    std::size_t dynamic_shared_limit = SharedMemory::default_limit_bytes;

  private:
    friend void run_fiber();
    static void make_for_this_thread();

    // Blocks.
    std::string why_invalid(const unit::LaunchConfig& config, int& cuda_error) const;
    void set_dimensions(const unit::LaunchConfig& config);
    void begin_block();
    void set_block_index();
    void draw_order();
    bool next_block();

    // Threads of a block.
    unsigned position() const { return position_of_[unit::state.thread.rank]; }
    void leave_fast_mode();
    void thread_exited();
    void make_ready(unsigned position_ready) {
        ready_.insert(position_ready);
        ++ready_count_;
    }
    /// Stops the running thread, which waits or is ready; returns when it is resumed.
    void stop_thread(const Wait& wait);
    void resume_next();
    void resume_ready();
    void start_next();
    void release_barrier();
    void release_lanes(unsigned warp, unsigned lanes);
    bool release_active_masks();
    void leave_fiber();
    void record_trap(int cuda_error, const TrapText& text, unit::Place place);
    void record_deadlock();
    [[noreturn]] void abandon_launch();
    [[noreturn]] void deadlock();
    std::string who_waits() const;
    std::string launch_text() const;

    Schedule schedule_;
    std::uint64_t launches_scheduled_ = 0;
    Random random_;
    Counters counters_;
    std::string error_;
    std::string thrown_;  ///< by the kernel that is being trapped for it

    unit::Entry entry_ = nullptr;
    const void* body_ = nullptr;
    const char* kernel_ = "";
    unit::Place launch_place_{};

    std::uint64_t blocks_ = 0, blocks_begun_ = 0, block_stride_ = 1, block_offset_ = 0;
    bool launch_done_ = false;

    unsigned threads_ = 0;  ///< of a block
    unsigned live_ = 0;     ///< not exited; kept only once a thread has blocked
    bool fast_ = true;      ///< no thread of this block has blocked
    dim3 table_block_{0, 0, 0};
    Order table_order_ = Order::ascending;
    std::array<unit::ThreadSlot, max_block_threads> by_rank_, order_;
    std::array<std::uint16_t, max_block_threads> position_of_{};
    const unit::ThreadSlot* order_end_ = nullptr;

    PositionSet ready_, at_barrier_;
    unsigned ready_count_ = 0, barrier_arrived_ = 0, cursor_ = 0;
    int barrier_true_ = 0, barrier_true_result_ = 0;
    unsigned barrier_threads_result_ = 0;
    std::array<Fiber*, max_block_threads> fiber_of_{};
    std::array<Warp, max_block_threads / warp_lanes> warps_;

    // A thread that spins on an atomic gives way; see yield().
    std::uint64_t spin_block_ = 0;
    unsigned spin_rank_ = 0;
    std::uint64_t yields_without_progress_ = 0;

    Fiber main_;
    Fiber* current_ = &main_;
    FiberPool fibers_;
    SharedMemory shared_;
};

}  // namespace gradverify::simt
