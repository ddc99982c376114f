// SPDX-License-Identifier: Apache-2.0
// One warp's collectives: lanes deposit, and the last lane of a mask to arrive computes for all.
// Decides results and when a collective is complete; who is resumed then is the executor's.
#pragma once

#include <array>
#include <cstdint>

#include "gradverify_simt/state.hpp"

namespace gradverify::simt {

/// One lane's part in a collective.
struct WarpDeposit {
    unit::WarpOp op;
    unsigned mask;
    std::uint64_t value;
    unsigned source_lane;
};

/// Computes what the 32 lanes ask for, each by the address of its WarpProduct, and writes their
/// elements of the sum. False, and nothing done, where the lanes ask for different products.
bool multiply(const std::array<std::uint64_t, 32>& products);

class Warp {
  public:
    /// `missing` are the lanes that the block does not have, or that have exited already. Results
    /// go to `results`, by lane.
    void begin(unsigned missing, std::uint64_t* results) {
        exited_ = missing;
        pending_count_ = 0;
        results_ = results;
    }
    /// `deposit` for the common case: false, and nothing done, unless the lane joins the only
    /// collective there is, and others are still awaited.
    bool join(unsigned lane, const WarpDeposit& deposit) {
        Pending& pending = pending_[0];
        const unsigned arrived = pending.arrived | 1u << lane;
        if (pending_count_ != 1 || pending.mask != deposit.mask || pending.op != deposit.op ||
            deposit.op == unit::WarpOp::active || (deposit.mask >> lane & 1u) == 0 ||
            arrived == (deposit.mask & ~exited_)) [[unlikely]]
            return false;
        pending.arrived = arrived;
        values_[lane] = deposit.value;
        sources_[lane] = static_cast<std::uint8_t>(deposit.source_lane & 31u);
        return true;
    }
    /// Lanes of the collective that this deposit completes; 0 while others are awaited.
    unsigned deposit(unsigned lane, const WarpDeposit& deposit, unit::Place place);
    /// Marks a lane as exited; lanes of the collectives that this completes.
    unsigned exit(unsigned lane);
    /// Completes every `__activemask` with the lanes that came; those lanes.
    unsigned complete_active();

  private:
    struct Pending {
        unsigned mask;
        unsigned arrived;
        unit::WarpOp op;
        unit::Place place;
    };
    bool is_complete(const Pending& pending) const {
        return pending.arrived == (pending.mask & ~exited_);
    }
    unsigned complete(unsigned index);
    void compute(const Pending& pending);
    void tell_detector(const Pending& pending) const;
    std::uint64_t reduce(const Pending& pending) const;
    void match(const Pending& pending);

    unsigned exited_ = 0;
    unsigned pending_count_ = 0;
    std::uint64_t* results_ = nullptr;
    std::array<std::uint64_t, 32> values_{};
    std::array<std::uint8_t, 32> sources_{};
    std::array<Pending, 32> pending_{};
};

}  // namespace gradverify::simt
