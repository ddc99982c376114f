// SPDX-License-Identifier: Apache-2.0
// Decides whether one element of an output is right, on the host and on a GPU.
#pragma once

#include "harness/base/on_both.hpp"

namespace gradverify {

/// How far an element may be from what is expected. Without a limit, as where the arithmetic may
/// overflow, any value passes, a NaN too, and nothing has been compared.
class Bound {
  public:
    constexpr Bound(double most = 0.0) : most_(most) {}  // NOLINT: a number is a bound
    static constexpr Bound none() {
        Bound bound;
        bound.is_limited_ = false;
        return bound;
    }

    constexpr bool is_limited() const { return is_limited_; }
    /// **Ranges** of a bound with a limit.
    constexpr double most() const { return most_; }

    /// How far two results may differ that are each within one of the bounds.
    Bound operator+(const Bound& other) const {
        return is_limited_ && other.is_limited_ ? Bound(most_ + other.most_) : none();
    }
    constexpr bool operator==(const Bound&) const = default;

    /// In the accepting form: a NaN is wrong, and a NaN as the bound accepts nothing. Equal
    /// infinities are compared by ==, since their difference is no number.
    GRADVERIFY_ON_BOTH bool accepts(double got, double want) const {
        if (!is_limited_ || got == want) return true;
        const double error = got < want ? want - got : got - want;
        return error <= most_;
    }

  private:
    double most_;
    bool is_limited_ = true;
};

/// Whether both are NaN, where the data hold NaN and the operator says what follows.
GRADVERIFY_ON_BOTH inline bool is_admitted_nan(bool admits_nan, double got, double want) {
    return admits_nan && want != want && got != got;
}

}  // namespace gradverify
