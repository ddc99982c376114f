// SPDX-License-Identifier: Apache-2.0
// The asynchronous proxy of a block: bulk copies that are not done, or have not been waited for.
// When each is done is drawn from the schedule: at once, or when all threads of the block wait. One
// that completes at the mbarrier of another block of the cluster is that block's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "harness/simt/execute/block_work.hpp"
#include "harness/simt/execute/executor.hpp"
#include "harness/simt/ptx/bulk_reductions.hpp"

namespace gradverify::simt {

/// Who asked for what the asynchronous proxy does.
struct AsyncPlace {
    void* mbarrier;  ///< completes there; null: in a bulk group
    const void* pc;  ///< of the user's instruction
    unit::Place place;
};

struct BulkCopy {
    struct Piece {
        std::byte* to;
        const std::byte* from;  ///< null: it is filled
        std::uint32_t bytes;
    };
    AsyncPlace by;
    std::vector<Piece> pieces;
    const void* tensor_map = nullptr;  ///< by which it is done
    std::uint32_t transaction_bytes = 0;
    /// What fills elements that the source does not have: zero, or NaN.
    std::uint32_t fill = 0, fill_bytes = 4;
    const BulkReduction* reduction = nullptr;  ///< of the destination; null: a copy
    bool arrives = false;                      ///< it is an arrival, after older copies
    bool is_done = false;
    unsigned operation = 0;  ///< of the race detector
    unsigned rank = 0;       ///< of the thread that asked for it
    unsigned group = 0;      ///< of the thread's groups; copies of the open one are not committed
    std::vector<std::byte> source;  ///< read before it was written

    void perform();
    /// Reads the source, and leaves the destination.
    void read();
    /// The same copy to the same place of another block of the cluster, and its mbarrier.
    BulkCopy to_block(unsigned block) const;
    void touch() const;
};

class BulkCopies : public BlockWork {
  public:
    static constexpr Kind kind = bulk_copies;
    static BulkCopies& of_this_thread() { return of(unit::state.cluster_rank); }
    static BulkCopies& of(unsigned rank) { return of_block<BulkCopies>(rank); }

    void begin_launch(const Schedule& schedule, std::uint64_t launch) override;
    void forget() override;
    /// The running thread asks for it.
    void add(BulkCopy copy);
    /// The same for each block of the cluster whose bit is set.
    void multicast(const BulkCopy& copy, std::uint32_t blocks);
    /// cp.async.mbarrier.arrive: an arrival once the thread's copies by cp.async are done.
    void arrive_after_copies(const AsyncPlace& at);
    void commit();
    /// Waits for all committed groups of the thread but the last `groups`.
    void wait(unsigned groups, bool reads_only);
    bool complete_one() override;
    bool has_late() const override { return !late_.empty(); }
    void leave_block() override;
    void end_block() override {
        if (has_copies_) complete_all();
    }

  private:
    struct OfThread {
        std::vector<BulkCopy> copies;
        unsigned open_group = 0;
    };
    /// An operation that the block must not outlive.
    struct Begun {
        unsigned operation;
        const void* pc;
        unsigned rank;
    };
    bool draw_is_early();
    void complete(BulkCopy& copy);
    void perform_groups();
    void complete_all();

    std::vector<BulkCopy> late_;  ///< that complete at an mbarrier
    std::map<unsigned, OfThread> threads_;
    std::vector<Begun> begun_;
    bool has_copies_ = false;
    Order order_ = Order::ascending;
    Random random_;
};

}  // namespace gradverify::simt
