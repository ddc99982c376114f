// SPDX-License-Identifier: Apache-2.0
// The asynchronous copies of the running block's threads that have not been waited for. When each
// is done is drawn from the schedule: at once, or when its thread waits for it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "harness/simt/execute/block_work.hpp"
#include "harness/simt/execute/executor.hpp"

namespace gradverify::simt {

struct AsyncCopy {
    void* to;
    const void* from;
    unsigned bytes, source_bytes;
    const void* pc;  ///< of the user's instruction
    bool is_done;    ///< the bytes are there; only a wait orders them
    unsigned rank;   ///< of the thread that asked for it
    unsigned group;  ///< of the thread's groups, from 0; copies of the open one are not committed
    void perform() const;
    void touch() const;
};

class AsyncCopies : public BlockWork {
  public:
    static constexpr Kind kind = copies;
    static AsyncCopies& of_this_thread() { return of_block<AsyncCopies>(unit::state.cluster_rank); }

    void begin_launch(const Schedule& schedule, std::uint64_t launch) override;
    void add(AsyncCopy copy);
    void commit(unsigned rank);
    /// Completes all committed groups of the thread but the last `groups`, in order.
    void wait(unsigned rank, unsigned groups);
    /// The same for the copies that are not committed.
    void wait_all(unsigned rank);
    /// Does all copies of the thread, of whatever group. The race detector's operation by which
    /// they end; 0: there are none, or nothing is checked.
    unsigned arrive(unsigned rank);
    void end_block() override {
        if (has_copies_) complete_all();
    }
    void leave_block() override { end_block(); }

  private:
    /// Copies that end at an mbarrier, and with their groups, too.
    struct Arrival {
        unsigned group, operation;
    };
    struct OfThread {
        std::vector<AsyncCopy> copies;
        std::vector<Arrival> arrivals;
        unsigned last_operation = 0;
        unsigned open_group = 0;
    };
    void complete_before(OfThread& thread, unsigned group);
    void complete_all();
    void clear();

    std::array<OfThread, max_block_threads> threads_;
    bool has_copies_ = false;
    Order order_ = Order::ascending;
    Random random_;
};

}  // namespace gradverify::simt
