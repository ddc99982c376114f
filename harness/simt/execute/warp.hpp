// SPDX-License-Identifier: Apache-2.0
// One warp's collectives: lanes deposit, and the last lane of a mask to arrive computes for all.
// Decides results and when a collective is complete; the executor decides who is resumed then.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "gradverify_simt/state.hpp"

namespace gradverify::simt {

/// `visit(i)` for each bit i that is set.
template <class Visit>
void for_each_bit(std::uint32_t bits, Visit visit) {
    for (; bits != 0; bits &= bits - 1) visit(static_cast<unsigned>(std::countr_zero(bits)));
}

struct WarpDeposit {
    unit::WarpOp op;
    unsigned mask;
    std::uint64_t value;
    unsigned source_lane;
};

/// Computes the product that the 32 lanes ask for, each by the address of its WarpProduct. False,
/// and nothing done, where the lanes ask for different products.
bool multiply(const std::array<std::uint64_t, 32>& products);

class Warp {
  public:
    /// The lanes `missing` are not in the block, or have exited. Results go to `results`, by lane.
    void begin(unsigned missing, std::uint64_t* results) {
        exited_ = missing;
        pending_count_ = 0;
        results_ = results;
    }
    /// `deposit` where the lane joins the only collective without ending it; else false, and no
    /// change.
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
    // Each returns the lanes of the collectives that it completes.
    unsigned deposit(unsigned lane, const WarpDeposit& deposit, unit::Place place);
    unsigned exit(unsigned lane);
    /// Completes every `__activemask` with the lanes that came.
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
    void shuffle(const Pending& pending);
    bool act() const;

    unsigned exited_ = 0;
    unsigned pending_count_ = 0;
    std::uint64_t* results_ = nullptr;
    std::array<std::uint64_t, 32> values_{};
    std::array<std::uint8_t, 32> sources_{};
    std::array<Pending, 32> pending_{};
};

}  // namespace gradverify::simt
