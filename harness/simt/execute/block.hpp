// SPDX-License-Identifier: Apache-2.0
// The threads of a block and what they wait for; a block that was left for another.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "gradverify_simt/state.hpp"
#include "harness/simt/execute/fiber.hpp"
#include "harness/simt/execute/shared_memory.hpp"
#include "harness/simt/execute/warp.hpp"
#include "harness/simt/runtime/device_limits.hpp"

namespace gradverify::simt {

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

/// A barrier of PTX's bar.sync that some threads of a block have reached.
struct NamedBarrier {
    unsigned arrived = 0;
    unsigned count = 0;                  ///< of threads that it waits for
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
struct Block {
    // What every switch touches, in few cache lines.
    alignas(64) Fiber* current_ = nullptr;
    unsigned running_ = 0;  ///< position; like all that follows, kept once a thread has blocked
    unsigned live_ = 0;     ///< not exited
    unsigned barrier_arrived_ = 0;
    bool fast_ = true;      ///< no thread of this block has blocked
    unsigned threads_ = 0;  ///< with those that have exited
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
    Block threads;
    uint3 index{};
    unsigned rank = 0;  ///< in its cluster
    const unit::ThreadSlot* next = nullptr;
    SavedShared shared;
};

}  // namespace gradverify::simt
