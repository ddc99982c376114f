// SPDX-License-Identifier: Apache-2.0
// One warp's collectives: lanes deposit, and the last lane of a mask to arrive computes for all.
// Decides results and when a collective is complete; who is resumed then is the executor's.
#pragma once

#include <array>
#include <cstdint>

#include "gradverify_simt/state.hpp"

namespace gradverify::simt {

class Warp {
  public:
    /// `missing` are the lanes that the block does not have, or that have exited already.
    void begin(unsigned missing) {
        exited_ = missing;
        pending_count_ = 0;
    }
    /// Lanes of the collective that this deposit completes; 0 while others are awaited.
    unsigned deposit(unsigned lane, const unit::WarpDeposit& deposit, unit::Place place);
    /// Marks a lane as exited; lanes of the collectives that this completes.
    unsigned exit(unsigned lane);
    /// Completes every `__activemask` with the lanes that came; those lanes.
    unsigned complete_active();
    std::uint64_t result(unsigned lane) const { return results_[lane]; }

  private:
    struct Pending {
        unit::WarpOp op;
        unsigned mask;
        unsigned arrived;
        unit::Place place;
    };
    bool is_complete(const Pending& pending) const {
        return pending.arrived == (pending.mask & ~exited_);
    }
    unsigned complete(unsigned index);
    void compute(const Pending& pending);
    std::uint64_t reduce(const Pending& pending) const;
    void match(const Pending& pending);

    unsigned exited_ = 0;
    unsigned pending_count_ = 0;
    std::array<Pending, 32> pending_{};
    std::array<std::uint64_t, 32> values_{};
    std::array<std::uint8_t, 32> sources_{};
    std::array<std::uint64_t, 32> results_{};
};

}  // namespace gradverify::simt
