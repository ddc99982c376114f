// SPDX-License-Identifier: Apache-2.0
// The launch that runs: its kernel, the order of its blocks and of their threads; which launches
// CUDA refuses.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "gradverify_simt/state.hpp"
#include "harness/simt/execute/block.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify::simt {

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

/// The order in which the threads of a block begin, drawn anew for each block if it is random.
class ThreadOrder {
  public:
    void set_block(dim3 size, Block& block);
    void draw(Order order, Random& random, Block& block);
    /// The block's order is no longer the one last drawn.
    void forget() { drawn_ = Order::random_threads; }
    uint3 index_of(unsigned rank) const { return by_rank_[rank].index; }

  private:
    void shuffle(std::uint16_t* values, unsigned count, Random& random);

    dim3 size_{0, 0, 0};
    Order drawn_ = Order::ascending;
    std::array<unit::ThreadSlot, max_block_threads> by_rank_;
    std::array<std::uint16_t, max_block_threads> ranks_{}, picks_{};
};

/// What runs, and which of its blocks is next.
struct Launch {
    unit::Entry entry = nullptr;
    const void* body = nullptr;
    const char* kernel = "";
    unit::Place place{};
    std::uint64_t blocks = 0, begun = 0;

    /// Of which the blocks of a cluster come one after the other.
    void draw_order(Random& random, unsigned cluster_size);
    /// The next block becomes the state's.
    void set_block_index(Order order, unsigned cluster_size) const;
    std::string text() const;

  private:
    std::uint64_t stride_ = 1, offset_ = 0;  // of a random order
};

std::uint64_t volume(const dim3& size);
/// The grid and block of the launch that runs, as `<<<(1, 64), 32>>>`.
std::string shape_text();
/// "" of a launch that is valid, whose error is cudaSuccess.
std::string why_invalid(const unit::LaunchConfig& config, int& cuda_error);

}  // namespace gradverify::simt
