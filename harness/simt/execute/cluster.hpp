// SPDX-License-Identifier: Apache-2.0
// The blocks that run in turn, each with its own shared memory, and their barrier. Of a launch
// without clusters, a cluster is one block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gradverify_simt/state.hpp"
#include "harness/simt/execute/shared_memory.hpp"

namespace gradverify::simt {

struct Cluster {
    unsigned size = 1;
    std::uint32_t phase = 1;  ///< of its barrier
    unsigned arrived = 0;     ///< threads that have not exited
    unsigned live = 0;        ///< not exited, of all blocks

    Cluster() { memories_.push_back(std::make_unique<SharedMemory>()); }
    void begin_launch(dim3 blocks, std::size_t shared_bytes);
    void begin(unsigned threads);
    /// The block of the state's rank is the running one.
    void enter_block();
    SharedMemory& shared() { return *memories_[unit::state.cluster_rank]; }
    const SharedMemory& shared() const { return *memories_[unit::state.cluster_rank]; }
    std::vector<SharedArenas> arenas() const;
    /// **Errors** nullptr when a block's static variables would exceed the default limit.
    void* place(const unit::SharedSlot& slot, std::size_t bytes, std::size_t alignment);

  private:
    struct Place {
        const unit::SharedSlot* slot;
        std::size_t offset;
    };
    std::vector<Place> places_;
    std::vector<std::unique_ptr<SharedMemory>> memories_;  ///< by rank
};

}  // namespace gradverify::simt
