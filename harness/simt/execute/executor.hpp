// SPDX-License-Identifier: Apache-2.0
// The executor of one OS thread: runs a launch block by block, the threads of a block as plain
// calls until one blocks, then on fibers. Decides who runs next, who waits, and what a deadlock is.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "gradverify_simt/state.hpp"
#include "harness/simt/execute/fault.hpp"
#include "harness/simt/execute/fiber.hpp"
#include "harness/simt/execute/left_locals.hpp"
#include "harness/simt/execute/shared_memory.hpp"
#include "harness/simt/execute/warp.hpp"
#include "harness/simt/runtime/buffers.hpp"
#include "harness/simt/runtime/device_limits.hpp"
#include "harness/simt/runtime/errors.hpp"
#include "harness/simt/runtime/text.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify::simt {

static_assert(FiberPool::capacity >= max_block_threads);

class PositionSet {
  public:
    void clear() { words_.fill(0); }
    void insert(unsigned i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
    void erase(unsigned i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }

  private:
    friend class ReadyPositions;
    static constexpr unsigned words = max_block_threads / 64;
    std::array<std::uint64_t, words + 1> words_{};  // the last stays empty
};

/// The positions of threads that can go on, taken in the block's order, round from a cursor.
class ReadyPositions {
  public:
    bool is_empty() const { return count_ == 0; }
    void assign(const PositionSet& set, unsigned count) {
        waiting_ = set;
        bits_ = 0;
        count_ = count;
    }
    void insert(unsigned i) {
        put_back();
        waiting_.insert(i);
        ++count_;
    }
    /// Position `first` + i for each bit i that is set.
    void insert_bits(unsigned first, std::uint32_t bits) {
        put_back();
        waiting_.words_[first / 64] |= std::uint64_t{bits} << (first % 64);
        if (first % 64 > 32)
            waiting_.words_[first / 64 + 1] |= std::uint64_t{bits} >> (64 - first % 64);
        count_ += static_cast<unsigned>(std::popcount(bits));
    }
    void move_cursor(unsigned cursor) {
        put_back();
        cursor_ = cursor;
    }
    struct Taken {
        unsigned position;
        unsigned upcoming;  ///< a guess of which will be next, at most `max_block_threads`
    };
    /// The first from the cursor on, which moves behind it. The set must not be empty.
    [[gnu::always_inline]] Taken take() {
        std::uint64_t bits = bits_;
        if (bits == 0) [[unlikely]]
            bits = next_word();
        const unsigned position = first_ + static_cast<unsigned>(std::countr_zero(bits));
        bits_ = bits & (bits - 1);
        --count_;
        cursor_ = position + 1;
        return {position, first_ + static_cast<unsigned>(std::countr_zero(bits_))};
    }

  private:
    void put_back() {
        waiting_.words_[first_ / 64] |= bits_;
        bits_ = 0;
    }
    [[gnu::always_inline]] std::uint64_t next_word() {
        unsigned word = cursor_ / 64 % PositionSet::words;
        std::uint64_t bits = waiting_.words_[word] & (~std::uint64_t{0} << (cursor_ % 64));
        while (bits == 0) {
            word = (word + 1) % PositionSet::words;
            bits = waiting_.words_[word];
        }
        waiting_.words_[word] &= ~bits;
        first_ = word * 64;
        return bits;
    }

    std::uint64_t bits_ = 0;  // the current word, from the cursor on; the others are in waiting_
    unsigned first_ = 0;      // position of its lowest bit
    unsigned cursor_ = 0;
    unsigned count_ = 0;
    PositionSet waiting_;
};

constexpr bool is_random(Order order) {
    return order == Order::random_threads || order == Order::random_warps;
}

/// Random numbers, fast and good enough to shuffle.
class Random {
  public:
    explicit Random(std::uint64_t seed = 0) : state_(seed) {}
    std::uint64_t next() {  // splitmix64 (Steele, Lea, Flood 2014)
        state_ += 0x9e3779b97f4a7c15ULL;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    unsigned below(unsigned limit) { return static_cast<unsigned>(((next() >> 32) * limit) >> 32); }

  private:
    std::uint64_t state_;
};

/// A barrier of PTX's bar.sync that some threads of a block have reached.
struct NamedBarrier {
    unsigned arrived = 0;
    bool is_of_block = false;            ///< waits for all threads that have not exited
    std::vector<std::uint16_t> waiting;  ///< positions
};
constexpr unsigned named_barriers = 16;
constexpr unsigned warpgroup_threads = 128;

/// A thread that waits for asynchronous work to end at a key.
struct SuspendedThread {
    unsigned position;
    std::uintptr_t key;
    std::string (*text)(std::uintptr_t key);
    bool* is_woken;
};

/// The threads of one block: who is where, and who can go on.
struct BlockThreads {
    // What every switch touches, in few cache lines.
    alignas(64) Fiber* current_ = nullptr;
    unsigned running_ = 0;  ///< position; like all that follows, kept once a thread has blocked
    unsigned live_ = 0;     ///< not exited
    unsigned barrier_arrived_ = 0;
    bool fast_ = true;  ///< no thread of this block has blocked
    const unit::ThreadSlot* order_end_ = nullptr;
    ReadyPositions ready_;
    std::array<Fiber*, max_block_threads + 1> fiber_of_{};  ///< by position; null: none
    std::array<unit::ThreadSlot, max_block_threads> order_;
    std::array<std::uint16_t, max_block_threads> position_of_{};
    std::array<Warp, max_block_threads / warp_lanes> warps_;
    std::array<std::uint64_t, max_block_threads> warp_results_{};
    PositionSet alive_;
    int barrier_true_ = 0;
    std::array<NamedBarrier, named_barriers> named_barriers_;
    std::array<NamedBarrier, max_block_threads / warpgroup_threads> warpgroup_meetings_;
    std::vector<std::uint16_t> cluster_waiting_;  ///< positions
    /// The phase of the cluster's barrier at which a thread has arrived without waiting; 0: none.
    std::array<std::uint32_t, max_block_threads> cluster_arrival_{};
    std::vector<SuspendedThread> suspended_;
    bool at_grid_barrier_ = false;  ///< this block's threads wait at the grid's barrier

    void wake(std::uintptr_t key);
};

/// A block that was left because its threads wait for other blocks, or one of them spins. Of a
/// cooperative launch, shared memory is copied, since all blocks have it at one address.
struct ParkedBlock {
    BlockThreads threads;
    uint3 index{};
    unsigned rank = 0;  ///< in its cluster
    const unit::ThreadSlot* next = nullptr;
    SavedShared shared;
};

/// The grid and block of the launch that runs, as `<<<(1, 64), 32>>>`.
std::string shape_text();

class Watcher;
class Executor;
GRADVERIFY_SIMT_STATIC_TLS extern constinit thread_local Executor* executor_of_thread;

class Executor : private BlockThreads {
  public:
    static Executor& of_this_thread() {
        if (executor_of_thread == nullptr) [[unlikely]]
            make_for_this_thread();
        return *executor_of_thread;
    }
    Executor();

    void set_schedule(const Schedule& schedule);

    /// `watcher` is told what happens, unless it is null.
    void launch(const unit::LaunchConfig& config, const char* kernel, unit::Entry entry,
                const LaunchBody& body, Watcher* watcher);

    // The calls of a running thread.
    bool thread_returned();
    void barrier(unit::Place place);
    void cluster_arrive(unit::Place place);
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
    const char* shared_at(unsigned address) const { return shared().at(address); }
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
        Errors::of_this_thread().fail(cuda_error, text);
    }
    std::uint64_t accesses_checked = 0;

  private:
    friend void run_fiber();
    static void make_for_this_thread();

    // Blocks.
    std::string why_invalid(const unit::LaunchConfig& config, int& cuda_error) const;
    void set_dimensions(const unit::LaunchConfig& config);
    void begin_block();
    static void count_block();
    void set_block_index();
    void draw_order();
    void shuffle(std::uint16_t* values, unsigned count);
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
    void release_named_barrier(NamedBarrier& barrier);
    static void begin_or_end_collective(unit::WarpOp op, unsigned mask, std::uint64_t value,
                                        unsigned source_lane, unit::Place place);
    void release_lanes(unsigned warp, unsigned lanes);
    bool release_active_masks();
    /// When no thread can go on: ends waits that need no thread. False: it is a deadlock.
    bool go_on();
    bool release_suspended();
    void thread_got_on() { yields_without_progress_ = yields_of_grid_ = timeouts_ = 0; }

    // Blocks of a cluster (clusters.cpp).
    SharedMemory& shared() { return *shared_memories_[unit::state.cluster_rank]; }
    const SharedMemory& shared() const { return *shared_memories_[unit::state.cluster_rank]; }
    void set_cluster(dim3 cluster, std::size_t shared_bytes);
    void enter_block();
    void begin_cluster();
    void leave_cluster_early(unsigned threads);
    void complete_cluster_barrier();
    void release_cluster_waiting();
    /// No thread of the running block goes on before another block does.
    bool waits_for_cluster() const {
        return cluster_size_ > 1 && !(cluster_waiting_.empty() && suspended_.empty());
    }
    bool can_go_on(const ParkedBlock& block) const;
    bool another_block_can_go_on() const;
    /// The blocks that run at a time have all begun, and some were left.
    bool must_resume() const {
        return cluster_size_ > 1 && blocks_begun_ % cluster_size_ == 0 &&
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
    std::string launch_text() const;
    std::string thread_text() const;

    std::array<unit::ThreadSlot, max_block_threads> by_rank_;
    std::array<std::uint16_t, max_block_threads> drawn_ranks_{}, picks_{};
    int barrier_true_result_ = 0;
    unsigned barrier_threads_result_ = 0;

    Schedule schedule_;
    std::uint64_t launches_scheduled_ = 0;
    Random random_;
    Fault fault_;  ///< ended the running launch
    SignalStack signal_stack_;
    std::string thrown_;  ///< the text of the kernel's exception

    unit::Entry entry_ = nullptr;
    const void* body_ = nullptr;
    const char* kernel_ = "";
    unit::Place launch_place_{};
    std::uint64_t blocks_ = 0, blocks_begun_ = 0, block_stride_ = 1, block_offset_ = 0;
    unsigned threads_ = 0;  ///< of a block
    dim3 table_block_{0, 0, 0};
    Order table_order_ = Order::ascending;

    // A thread that spins on an atomic gives way; see yield().
    std::uint64_t spin_block_ = 0;
    unsigned spin_rank_ = 0;
    std::uint64_t yields_without_progress_ = 0;
    unsigned timeouts_ = 0;  ///< of suspended threads, since a thread got on

    // Cooperative launches.
    unit::Place grid_barrier_place_{};
    std::deque<std::unique_ptr<ParkedBlock>> waiting_blocks_, spinning_blocks_;
    std::uint64_t yields_of_grid_ = 0;  ///< how often a spinning thread left its block

    // Clusters. Of a launch without them, a cluster is one block.
    unsigned cluster_size_ = 1;
    std::uint32_t cluster_phase_ = 1;  ///< of its barrier
    unsigned cluster_arrived_ = 0;     ///< threads that have not exited
    unsigned cluster_live_ = 0;        ///< not exited, of all blocks
    struct SharedPlace {
        const unit::SharedSlot* slot;
        std::size_t offset;
    };
    std::vector<SharedPlace> shared_places_;
    Fiber main_;
    bool is_abandoned_ = false;  ///< the running launch, before its end
    dim3 needed_cluster_;        ///< of the running launch, which has none
    Fiber abandoned_;            ///< the left side of a switch that never returns
    FiberPool fibers_;
    LeftLocals left_locals_;
    std::vector<std::unique_ptr<SharedMemory>> shared_memories_;  ///< by rank in the cluster
};

}  // namespace gradverify::simt
