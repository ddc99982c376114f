// SPDX-License-Identifier: Apache-2.0
// What a block has begun and goes on without: asynchronous copies, bulk copies, products of
// warpgroups. Each kind is made when a block first asks for it (ptx/).
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "gradverify_simt/state.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify::simt {

class BlockWork {
  public:
    /// In the order in which they end with their block.
    enum Kind { copies, products, bulk_copies, kinds };

    virtual ~BlockWork() = default;
    /// The order of threads decides whether work is done early, late, or either.
    virtual void begin_launch(const Schedule& schedule, std::uint64_t launch) = 0;
    /// The block has ended: what is outstanding is done, or can no longer be.
    virtual void end_block() = 0;
    /// The block is left for another, and will go on.
    virtual void leave_block() {}
    /// What others have begun for a block that had not begun is lost.
    virtual void forget() {}
    /// Does one work that only waits for time to pass; false: there is none.
    virtual bool complete_one() { return false; }
    virtual bool has_late() const { return false; }

    // All kinds of the running block; `any_is_late` asks a block of its cluster.
    static void begin_launches(unsigned cluster_size, const Schedule& schedule,
                               std::uint64_t launch);
    static void end_running();
    static void leave_running();
    static void forget_running();
    static bool complete_one_running();
    static bool any_is_late(unsigned rank);

  protected:
    /// The one of a kind, `Work::kind`, of a block of the running cluster.
    template <class Work>
    static Work& of_block(unsigned rank) {
        std::unique_ptr<BlockWork>& work = slot(rank, Work::kind);
        if (!work) begin(work, std::make_unique<Work>());
        return static_cast<Work&>(*work);
    }

  private:
    static std::unique_ptr<BlockWork>& slot(unsigned rank, Kind kind);
    static void begin(std::unique_ptr<BlockWork>& slot, std::unique_ptr<BlockWork> work);
};

}  // namespace gradverify::simt
