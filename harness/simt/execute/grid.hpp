// SPDX-License-Identifier: Apache-2.0
// A block of a cooperative launch that was left while its threads wait at the grid barrier, or one
// of them spins. Shared memory is copied, since every block has it at one address.
#pragma once

#include <vector>

#include "harness/simt/execute/executor.hpp"

namespace gradverify::simt {

struct ParkedBlock {
    BlockThreads threads;
    uint3 index{};
    const unit::ThreadSlot* next = nullptr;
    std::vector<char> static_shared, dynamic_shared;
};

}  // namespace gradverify::simt
