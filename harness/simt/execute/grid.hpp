// SPDX-License-Identifier: Apache-2.0
// A block of a cooperative launch that was left while its threads wait: all that the executor must
// put back to go on with it. Shared memory is copied, since every block has it at one address.
#pragma once

#include <array>
#include <vector>

#include "harness/simt/execute/executor.hpp"

namespace gradverify::simt {

struct ParkedBlock {
    bool is_at_grid_barrier = false;  ///< or one of its threads spins
    uint3 index{};
    const unit::ThreadSlot* next = nullptr;
    unsigned live = 0, barrier_arrived = 0;
    int barrier_true = 0;
    ReadyPositions ready;
    PositionSet alive;
    std::array<Fiber*, max_block_threads + 1> fiber_of{};
    std::array<unit::ThreadSlot, max_block_threads> order;
    std::array<std::uint16_t, max_block_threads> position_of{};
    std::array<Warp, max_block_threads / warp_lanes> warps;
    std::array<std::uint64_t, max_block_threads> warp_results{};
    std::vector<char> static_shared, dynamic_shared;
};

}  // namespace gradverify::simt
