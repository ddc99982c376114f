// SPDX-License-Identifier: Apache-2.0
// Decides the exact derivative of a forward function along one direction: a scalar that carries a
// value and its tangent (forward mode). Equal values are ordered by their tangents, so that at a
// kink the result is the derivative for a small step forwards.
#pragma once

#include <string_view>

#include "harness/numbers/autodiff/decisions.hpp"
#include "harness/numbers/autodiff/functions.hpp"
#include "harness/numbers/autodiff/plain_numbers.hpp"

namespace gradverify {

class Dual : public detail::ScalarOperators<Dual> {
  public:
    Dual() = default;
    Dual(double value) : value_(value) {}
    /// A value that depends on an input; its tangent may be zero.
    Dual(double value, double tangent) : value_(value), tangent_(tangent), is_constant_(false) {}

    double value() const { return value_; }
    double tangent() const { return tangent_; }

    Dual operator-() const { return {-value_, -tangent_, is_constant_}; }
    Dual& operator+=(const Dual& b) {
        value_ += b.value_, tangent_ += b.tangent_, is_constant_ &= b.is_constant_;
        return *this;
    }
    friend Dual operator+(Dual a, const Dual& b) { return a += b; }
    friend Dual operator-(Dual a, const Dual& b) { return a += -b; }
    friend Dual operator*(const Dual& a, const Dual& b) {
        return {a.value_ * b.value_, along(a.tangent_, b.value_) + along(b.tangent_, a.value_),
                a.is_constant_ && b.is_constant_};
    }
    friend Dual operator/(const Dual& a, const Dual& b) {
        const double value = a.value_ / b.value_;
        const double tangent = a.tangent_ - along(b.tangent_, value);
        return {value, tangent == 0.0 ? 0.0 : tangent / b.value_, a.is_constant_ && b.is_constant_};
    }

    friend bool operator<(const Dual& a, const Dual& b) {
        const bool tie = a.value_ == b.value_;
        current_decisions.ties += tie && a.tangent_ != b.tangent_;
        current_decisions.open +=
            tie && a.tangent_ == 0.0 && b.tangent_ == 0.0 && !(a.is_constant_ && b.is_constant_);
        const bool less = tie ? a.tangent_ < b.tangent_ : a.value_ < b.value_;
        current_decisions.note(less);
        return less;
    }
    friend bool operator==(const Dual& a, const Dual& b) {
        const bool tie = a.value_ == b.value_, equal = tie && a.tangent_ == b.tangent_;
        current_decisions.ties += tie && !equal;
        current_decisions.note(equal);
        return equal;
    }

    friend Dual max(const Dual& a, const Dual& b) { return a < b ? b : a; }
    friend Dual min(const Dual& a, const Dual& b) { return b < a ? b : a; }
    friend Dual abs(const Dual& x) { return x < Dual() ? -x : x; }

    /// A function of x. A tangent of zero stays zero where the slope is infinite, or none.
    static Dual with_slope(double value, double slope, const Dual& x) {
        return {value, along(x.tangent_, slope), x.is_constant_};
    }

  private:
    Dual(double value, double tangent, bool is_constant)
        : value_(value), tangent_(tangent), is_constant_(is_constant) {}

    static double along(double tangent, double slope) {
        return tangent == 0.0 ? 0.0 : slope * tangent;
    }

    double value_ = 0.0, tangent_ = 0.0;
    bool is_constant_ = true;  ///< depends on no input
};

namespace detail {

template <class F>
Dual apply_function(const Dual& x) {
    const double value = F::value(x.value());
    return Dual::with_slope(value, F::derivative(x.value(), value), x);
}

/// On a jump the value is that of the side to which the argument moves, and that is a tie.
template <class F>
Dual apply_step(const Dual& x) {
    const double below = F::value(std::nextafter(x.value(), -INFINITY));
    const double above = F::value(std::nextafter(x.value(), INFINITY));
    current_decisions.ties += below != above && x.tangent() != 0.0;
    const double value = x.tangent() < 0.0   ? below
                         : x.tangent() > 0.0 ? above
                                             : F::value(x.value());
    current_decisions.note_step(value);
    return Dual(value);
}

}  // namespace detail

/// Differences and directions are of exact numbers.
inline Dual rounded_by_name(std::string_view, const Dual& number) { return number; }

inline Dual pow(const Dual& x, const Dual& y) {
    const double value = std::pow(x.value(), y.value());
    // To the power of 0 it is 1, also where x is 0.
    const double by_x = y.value() == 0.0 ? 0.0 : y.value() * std::pow(x.value(), y.value() - 1.0);
    Dual result = Dual::with_slope(value, by_x, x);
    if (y.tangent() != 0.0) result += Dual(0.0, value * std::log(x.value()) * y.tangent());
    return result;
}

}  // namespace gradverify
