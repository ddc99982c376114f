// SPDX-License-Identifier: Apache-2.0
// Decides how far a correct kernel may be from the exact value: a scalar that carries the value
// (in double), a bound on the absolute error made so far, and, for a running sum only, the sum of
// the terms' magnitudes and the number of additions.
//
//   running sum of terms t_i:   |computed - exact| <= gamma(depth) * sum|t_i| + sum error(t_i)
//   gamma(m) = m u / (1 - m u)
//
// holds for any order of summation (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
// ed., section 4.2). `+` and `-` extend the sum; every other operation first collapses it into the
// error, then propagates the errors and adds its own rounding and a possible underflow.
// Does not know operators; a reference is a template and runs on this scalar unchanged.
#pragma once

#include <algorithm>
#include <cmath>

#include "harness/autodiff/plain_numbers.hpp"
#include "harness/dtype.hpp"
#include "harness/element_bits.hpp"

namespace gradverify {

/// The arithmetic whose rounding a Bounded covers.
struct Rounding {
    double unit_roundoff = traits_of(DType::f32).unit_roundoff;
    double smallest_normal = traits_of(DType::f32).smallest_normal;
    double largest = traits_of(DType::f32).largest;
    /// The fast forms of functions and of the division.
    bool is_fast = false;

    static Rounding of(DType dtype, bool is_fast = false) {
        const DTypeTraits traits = traits_of(dtype);
        return {traits.unit_roundoff, traits.smallest_normal, traits.largest, is_fast};
    }

    /// What a constant of a formula is off by once it is a number of this arithmetic.
    double of_constant(double value) const {
        if (unit_roundoff < 0x1p-24 || has_digits_of(value)) return 0.0;
        return unit_roundoff * std::max(std::abs(value), smallest_normal);
    }
    /// Whether the value needs no more digits than there are.
    bool has_digits_of(double value) const {
        if (unit_roundoff == 0x1p-24)
            return static_cast<double>(static_cast<float>(value)) == value;
        if (std::abs(value) < smallest_normal || !std::isfinite(value))
            return value == 0.0 || std::isinf(value);
        // Split in two (Dekker 1971): the upper part is what this arithmetic has of it.
        const double shifted = value * (0x1p+53 * unit_roundoff + 1.0);
        return shifted - (shifted - value) == value;
    }

    /// Relative error of a sum after `additions` roundings, whatever their order.
    double gamma(double additions) const {
        const double share = additions * unit_roundoff;
        return share < 1.0 ? share / (1.0 - share) : INFINITY;
    }
};

/// The rounding that this thread's Bounded values count; set it around a reference's run.
inline thread_local Rounding current_rounding{};

class ScopedRounding {
  public:
    explicit ScopedRounding(Rounding rounding) : before_(current_rounding) {
        current_rounding = rounding;
    }
    ~ScopedRounding() { current_rounding = before_; }
    ScopedRounding(const ScopedRounding&) = delete;
    ScopedRounding& operator=(const ScopedRounding&) = delete;

  private:
    Rounding before_;
};

class Bounded {
  public:
    Bounded() = default;
    /// Data, which is exact, or a constant of the formula, which is rounded if it must be.
    Bounded(double value)
        : value_(value), error_(current_rounding.of_constant(value)), magnitude_(std::abs(value)) {}
    /// A sum that was formed elsewhere, term by term or as a matrix product.
    struct Sum {
        double value, error, magnitude, additions;
    };
    explicit Bounded(const Sum& sum)
        : value_(sum.value),
          error_(sum.error),
          magnitude_(sum.magnitude),
          additions_(sum.additions) {}

    double value() const { return value_; }
    /// A bound on |computed - value|, the running sum's roundings included.
    double error() const {
        if (additions_ == 0.0) return error_;
        const double gamma = current_rounding.gamma(additions_);
        if (!(magnitude_ <= current_rounding.largest)) return INFINITY;
        return error_ * (1.0 + gamma) + gamma * magnitude_ +
               additions_ * current_rounding.smallest_normal;
    }
    double magnitude() const { return magnitude_; }
    double additions() const { return additions_; }

    Bounded operator-() const { return Bounded(Sum{-value_, error_, magnitude_, additions_}); }

    Bounded& operator+=(const Bounded& other) {
        // Adding an exact zero rounds nothing, so a term that is one does not count.
        if (other.is_exact_zero()) return *this;
        if (is_exact_zero()) return *this = other;
        value_ += other.value_;
        error_ += other.error_;
        magnitude_ += other.magnitude_;
        additions_ += other.additions_ + 1.0;
        return *this;
    }
    Bounded& operator-=(const Bounded& other) { return *this += -other; }

    friend Bounded operator+(Bounded a, const Bounded& b) { return a += b; }
    friend Bounded operator-(Bounded a, const Bounded& b) { return a -= b; }

    friend Bounded operator*(const Bounded& a, const Bounded& b) {
        const double value = a.value_ * b.value_;
        const double ea = a.error(), eb = b.error();
        const double propagated = std::abs(a.value_) * eb + std::abs(b.value_) * ea + ea * eb;
        return after_operation(value, propagated);
    }
    Bounded& operator*=(const Bounded& other) { return *this = *this * other; }

    /// Counts three roundings, since hardware may multiply by a reciprocal, and two more for the
    /// fast form, which is off by two units in the last place. A divisor whose error reaches zero
    /// has no bound.
    friend Bounded operator/(const Bounded& a, const Bounded& b) {
        const double value = a.value_ / b.value_;
        const double ea = a.error(), eb = b.error();
        const double smallest_divisor = std::abs(b.value_) - eb;
        if (!(smallest_divisor > 0.0)) return Bounded(Sum{value, INFINITY, std::abs(value), 0.0});
        return after_operation(value, (ea + std::abs(value) * eb) / smallest_divisor,
                               current_rounding.is_fast ? 5.0 : 3.0);
    }
    friend Bounded& operator/=(Bounded& a, const Bounded& b) { return a = a / b; }

    // Defined in bounded_functions.hpp.
    friend bool operator<(const Bounded& a, const Bounded& b);
    friend bool operator>(const Bounded& a, const Bounded& b);
    friend bool operator<=(const Bounded& a, const Bounded& b);
    friend bool operator>=(const Bounded& a, const Bounded& b);
    friend bool operator==(const Bounded& a, const Bounded& b);

    GRADVERIFY_DETAIL_PLAIN_NUMBERS(Bounded)

    /// The result of one operation whose operands' errors come to `propagated`, with so many
    /// roundings of its own. 0 stays exact; beyond the largest number there is no bound.
    static Bounded after_operation(double value, double propagated, double roundings = 1.0) {
        if (value == 0.0 && propagated == 0.0) return Bounded();
        const double reach = std::abs(value) + propagated;
        if (!(reach <= current_rounding.largest)) return Bounded(Sum{value, INFINITY, reach, 0.0});
        const double own = current_rounding.gamma(roundings) * reach +
                           roundings * current_rounding.smallest_normal;
        return Bounded(Sum{value, propagated + own, reach, 0.0});
    }

    /// Once it has been stored in a type, by one rounding of what was computed.
    Bounded stored_in(DType dtype) const {
        return Bounded(
            Sum{value_, error_once_stored(dtype, value_, error()), std::abs(value_), 0.0});
    }

  private:
    bool is_exact_zero() const { return magnitude_ == 0.0 && error_ == 0.0; }

    double value_ = 0.0;
    double error_ = 0.0;
    double magnitude_ = 0.0;
    double additions_ = 0.0;
};

}  // namespace gradverify
