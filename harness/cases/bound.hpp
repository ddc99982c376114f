// SPDX-License-Identifier: Apache-2.0
// Decides whether one element of an output is right, on the host and on a GPU.
#pragma once

#include <limits>

#include "harness/base/on_both.hpp"

namespace gradverify {

/// How far an element may be from what is expected. Without a limit nothing has been compared.
class Bound {
  public:
    constexpr Bound(double most = 0.0) : most_(most) {}  // NOLINT: a number is a bound
    /// Any value passes, a NaN too: the result itself may be infinite, or is no number.
    static constexpr Bound none() {
        Bound bound(std::numeric_limits<double>::infinity());
        bound.accepts_all_ = true;
        return bound;
    }
    /// Any number passes, but neither a NaN nor an infinity.
    static constexpr Bound finite() { return Bound(largest); }

    constexpr bool is_limited() const { return most_ < largest; }
    constexpr double most() const { return most_; }

    /// How far two results may differ that are each within one of the bounds.
    Bound operator+(const Bound& other) const {
        if (accepts_all_ || other.accepts_all_) return none();
        return is_limited() && other.is_limited() ? Bound(most_ + other.most_) : finite();
    }
    constexpr bool operator==(const Bound&) const = default;

    /// In the accepting form: a NaN is wrong, and a NaN as the bound accepts nothing. Equal
    /// infinities are compared by ==, since their difference is no number.
    GRADVERIFY_ON_BOTH bool accepts(double got, double want) const {
        if (accepts_all_ || got == want) return true;
        const double error = got < want ? want - got : got - want;
        return error <= most_;
    }

  private:
    static constexpr double largest = std::numeric_limits<double>::max();
    double most_;
    bool accepts_all_ = false;
};

/// Whether both are NaN, where the data hold NaN and the operator says what follows.
GRADVERIFY_ON_BOTH inline bool is_admitted_nan(bool admits_nan, double got, double want) {
    return admits_nan && want != want && got != got;
}

}  // namespace gradverify
