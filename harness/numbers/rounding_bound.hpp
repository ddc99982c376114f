// SPDX-License-Identifier: Apache-2.0
// Decides how far a correct kernel may be from the exact value, by a scalar that carries the value
// (in double), a bound on the absolute error so far, and, for a running sum, the sum of the terms'
// magnitudes and the number of additions.
//
//   running sum of terms t_i:   |computed - exact| <= gamma(depth) * sum|t_i| + sum error(t_i)
//   gamma(m) = m u / (1 - m u)
//
// holds for any order of summation (Higham, Accuracy and Stability of Numerical Algorithms, 2nd
// ed., section 4.2). `+` and `-` extend the sum; every other operation first collapses it into the
// error, then propagates the errors and adds its own rounding and a possible underflow. A kernel
// may multiply or divide each term instead of the sum, (x - m) s + b as x s + (b - m s): so each
// term is rounded, and a short sum remains a sum.
//
// So does a recurrence, s = a s + b: a kernel may multiply out the factors of some steps and add up
// their terms in any order, as chunks of a scan are. The last 24 steps count as such a sum: where
// each step halves what came before, older ones are below a rounding of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "harness/numbers/autodiff/plain_numbers.hpp"
#include "harness/numbers/dtype.hpp"
#include "harness/numbers/element_bits.hpp"

namespace gradverify {

/// The arithmetic whose rounding a Bounded covers.
struct Rounding {
    double unit_roundoff = traits_of(DType::f32).unit_roundoff;
    double smallest_normal = traits_of(DType::f32).smallest_normal;
    double largest = traits_of(DType::f32).largest;
    bool is_fast = false;            ///< with the fast forms of functions and division
    double units_of_addition = 1.0;  ///< the error of an addition: 2 unit roundoffs if it cuts off
    /// Relative error of a factor that is cut to fewer digits when it is multiplied; 0: never cut.
    double factor_truncation = 0.0;
    double factor_unit = 0.0;  ///< unit roundoff of the numbers that have no more digits
    /// Where factors come in pieces: the least number that a piece is, and so the absolute error of
    /// a factor whose last digits are less.
    double factor_underflow = 0.0;
    /// The numbers of a reference that are rounded to a type, by the names that it gives them.
    std::span<const std::pair<std::string, DType>> types_by_name{};
    /// What another formula may lose, as a share of each quantity that it meets; 0: there is none.
    /// See autodiff/tape.hpp.
    double loss_of_formula = 0.0;
    double loss_of_inputs = 0.0;  ///< relative error of the differentiable inputs
    double loss_of_saved = 0.0;   ///< and of outputs of the forward pass that a pass takes
    /// Whether at a kink the derivatives of both sides are right, and all between them.
    bool admits_all_slopes = true;

    /// Whether a number of this magnitude may be infinite; on exact integers only infinity is.
    bool may_overflow(double magnitude) const {
        return !(magnitude <= (unit_roundoff > 0.0 ? largest : std::numeric_limits<double>::max()));
    }

    static Rounding of(DType dtype, bool is_fast = false) {
        const DTypeTraits traits = traits_of(dtype);
        return {traits.unit_roundoff, traits.smallest_normal, traits.largest, is_fast};
    }
    /// The same arithmetic on tensor cores.
    Rounding on_tensor_cores(bool multiplies_in_tf32) const {
        Rounding rounding = *this;
        rounding.units_of_addition = 2.0;
        if (!multiplies_in_tf32) return rounding;
        rounding.factor_truncation = tf32_unit_truncation;
        rounding.factor_unit = 0.5 * tf32_unit_truncation;
        return rounding;
    }
    /// The same, where the pieces of a factor keep so many digits of it, and tensor cores sum so
    /// many products of pieces for each product of two factors.
    Rounding in_pieces(int products, int digits) const {
        Rounding rounding = on_tensor_cores(false);
        rounding.units_of_addition *= products;
        // A factor of no more digits than the coarsest piece has is one piece.
        rounding.factor_unit = traits_of(DType::bf16).unit_roundoff;
        rounding.factor_truncation = std::ldexp(1.0, -digits) + products * unit_roundoff;
        rounding.factor_underflow = smallest_normal;
        // Rounded pieces add up to 1 + 2u of a factor in magnitude, twice that in a product.
        rounding.largest *= 1.0 - 4.0 * rounding.factor_unit;
        return rounding;
    }
    /// The type that a number of this name is rounded to, if it is.
    std::optional<DType> type_of(std::string_view name) const {
        const auto found = std::ranges::find(
            types_by_name, name, [](const auto& one) { return std::string_view(one.first); });
        return found == types_by_name.end() ? std::nullopt : std::optional(found->second);
    }

    /// The error of a constant of a formula, rounded to this arithmetic.
    double of_constant(double value) const {
        if (unit_roundoff < 0x1p-24 || has_digits_of(value)) return 0.0;
        return unit_roundoff * std::max(std::abs(value), smallest_normal);
    }
    /// Whether the arithmetic has all digits of the value. NaN and infinities are copied exactly.
    bool has_digits_of(double value) const {
        if (unit_roundoff == 0x1p-24)
            return static_cast<double>(static_cast<float>(value)) == value || std::isnan(value);
        if (std::abs(value) < smallest_normal || !std::isfinite(value))
            return value == 0.0 || !std::isfinite(value);
        return fits(value, unit_roundoff);
    }

    /// Relative error of a result after this number of roundings, whatever their order.
    double gamma(double roundings) const {
        const double share = roundings * unit_roundoff;
        return share < 1.0 ? share / (1.0 - share) : INFINITY;
    }
    /// The same arithmetic by any reasonable formula. It rounds as often as two functions of one
    /// ulp each do, and their sum, its square and a quotient.
    Rounding by_any_formula() const {
        Rounding rounding = *this;
        if (loss_of_formula == 0.0) rounding.loss_of_formula = gamma(8.0);
        return rounding;
    }
    /// Relative error of a sum after `additions`.
    double gamma_of_sum(double additions) const { return gamma(units_of_addition * additions); }
    /// Whether a factor is another number once it has been cut.
    bool cuts(double value) const {
        if (factor_truncation == 0.0) return false;
        const bool is_too_small = value != 0.0 && std::abs(value) < factor_underflow;
        return is_too_small || !fits(value, factor_unit);
    }

  private:
    /// Whether a value has no more digits than numbers of this unit roundoff.
    static bool fits(double value, double unit) {
        // The value is split in two (Dekker 1971); its upper part is a number of this arithmetic.
        const double shifted = value * (0x1p+53 * unit + 1.0);
        return shifted - (shifted - value) == value;
    }
};

/// The rounding of this thread's Bounded values, which ScopedRounding sets for a reference's run.
/// By this model no call finds its address, which would cost more than most operations.
[[gnu::tls_model("initial-exec")]] inline thread_local Rounding current_rounding{};

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

class Bounded : public detail::ScalarOperators<Bounded> {
  public:
    Bounded() = default;
    /// Data, or a constant of the formula, which is rounded if the arithmetic lacks it.
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
          additions_(static_cast<float>(sum.additions)) {}
    /// One number that is off by at most this error.
    static Bounded within(double value, double error) {
        return Bounded(Sum{value, error, std::abs(value), 0.0});
    }

    /// A number without a bound. Where it may be infinite, its magnitude is.
    static Bounded unbounded(double value, bool may_be_infinite) {
        return Bounded(Sum{value, INFINITY, may_be_infinite ? INFINITY : std::abs(value), 0.0});
    }
    /// Of a number without a bound: whether a right kernel's may be infinite, or NaN.
    bool may_be_infinite() const { return !std::isfinite(value_) || !std::isfinite(magnitude_); }

    double value() const { return value_; }
    /// A bound on |computed - value|, the running sum's roundings included.
    double error() const { return error_after(additions()); }
    double magnitude() const { return magnitude_; }
    double additions() const { return static_cast<double>(additions_); }

    Bounded operator-() const {
        Bounded negative = *this;
        negative.value_ = -value_;
        return negative;
    }

    Bounded& operator+=(const Bounded& other) {
        // Adding an exact zero rounds nothing, so a term that is one does not count.
        if (other.is_exact_zero()) return *this;
        if (is_exact_zero()) return *this = other;
        value_ += other.value_;
        error_ += other.error_;
        magnitude_ += other.magnitude_;
        additions_ += other.additions_ + 1.0f;
        kept_ = std::max(kept_, other.kept_);
        return *this;
    }
    friend Bounded operator+(Bounded a, const Bounded& b) { return a += b; }
    friend Bounded operator-(Bounded a, const Bounded& b) { return a += -b; }

    friend Bounded operator*(const Bounded& a, const Bounded& b) {
        if (current_rounding.factor_truncation == 0.0) return multiplied(a, b);
        return multiplied(a.as_factor(), b.as_factor());
    }
    /// As tensor cores multiply it: cut to the digits of a factor.
    Bounded as_factor() const {
        if (error() == 0.0 && !current_rounding.cuts(value_)) return *this;
        const double reach = additions() <= short_sum_additions ? magnitude_ : std::abs(value_);
        Bounded factor = *this;
        factor.error_ += current_rounding.factor_truncation * (reach + error()) +
                         current_rounding.factor_underflow;
        const bool comes_in_pieces = current_rounding.factor_underflow > 0.0;
        // The greatest piece may be infinite.
        if (comes_in_pieces && current_rounding.may_overflow(reach)) factor.error_ = INFINITY;
        return factor;
    }

    friend Bounded operator/(const Bounded& a, const Bounded& b) {
        const double value = a.value_ / b.value_;
        const double eb = b.error(), smallest_divisor = std::abs(b.value_) - eb;
        if (!(smallest_divisor > 0.0)) return unbounded(value, a.may_be_infinite());
        return after_operation(
            value, (a.error_of_terms() + std::abs(value) * eb) / smallest_divisor,
            current_rounding.is_fast ? 5.0 : 3.0,
            {.magnitude = a.magnitude_ / std::abs(b.value_), .additions = a.additions_to_keep()});
    }

    // bounded_functions.hpp defines them.
    friend bool operator<(const Bounded& a, const Bounded& b);
    friend bool operator==(const Bounded& a, const Bounded& b);

    /// Terms that a kernel may operate on one by one, and the additions that follow. The magnitude
    /// is infinite where a term may be.
    struct Terms {
        double magnitude, additions;
    };

    /// The result of one operation: `propagated` is the operands' errors, `roundings` are its own.
    /// An exact 0 stays exact; beyond the largest number there is no bound.
    static Bounded after_operation(double value, double propagated, double roundings = 1.0,
                                   Terms terms = {0.0, 0.0}) {
        if (value == 0.0 && propagated == 0.0 && terms.magnitude == 0.0) return Bounded();
        const double reach = std::max(std::abs(value), terms.magnitude) + propagated;
        if (!(reach <= current_rounding.largest))
            return unbounded(value, std::isfinite(reach) || !std::isfinite(terms.magnitude));
        const double own = current_rounding.gamma(roundings) * reach +
                           roundings * current_rounding.smallest_normal;
        Bounded result(Sum{value, propagated + own, reach, terms.additions});
        result.kept_ = result.additions_;
        return result;
    }

    Bounded off_by(double error) const {
        Bounded other = *this;
        other.error_ += error;
        return other;
    }
    /// As another formula may give it: by way of numbers of size `scale`.
    Bounded by_way_of(double scale) const {
        const double loss = current_rounding.loss_of_formula;
        return loss == 0.0 ? *this : off_by(loss * scale);
    }
    // A kernel may give a factor to a sum's terms as long as they are few, or to the parts of a
    // longer one: to x and to the mean of x - mean.
    static constexpr double short_sum_additions = 2.0;
    // Those of the steps of a recurrence whose terms it may add up in another order.
    static constexpr double recurrence_additions = 24.0;

    /// The computed value, rounded once to a type.
    Bounded stored_in(DType dtype) const {
        const double stored = error_once_stored(dtype, value_, error());
        if (std::isfinite(stored)) return within(value_, stored);
        const bool is_near_end = 2.0 * std::abs(value_) > traits_of(dtype).largest;
        return unbounded(value_, std::isfinite(error()) || is_near_end || may_be_infinite());
    }

    /// The most that rounding to nearest in a type takes from the number, or its share of a
    /// multiple, whose digits are others: attention's weights are rounded before they are scaled.
    double loss_in(DType dtype) const {
        const double before = error();
        if (before == 0.0 && (rounded_to(dtype, value_) == value_ || std::isnan(value_)))
            return 0.0;
        return error_of_rounding(dtype, std::abs(value_) + before);
    }
    Bounded rounded_in(DType dtype) const {
        Bounded rounded = *this;
        rounded.error_ += loss_in(dtype);
        return rounded;
    }

  private:
    bool is_exact_zero() const { return magnitude_ == 0.0 && error_ == 0.0; }
    /// Whether this is one number, or a sum in which nothing cancels.
    bool is_one_term() const { return magnitude_ <= std::abs(value_) + error_; }
    double error_after(double additions) const {
        if (additions == 0.0) return error_;
        const double gamma = current_rounding.gamma_of_sum(additions);
        if (!(magnitude_ <= current_rounding.largest)) return INFINITY;
        return error_ * (1.0 + gamma) + gamma * magnitude_ +
               additions * current_rounding.smallest_normal;
    }
    /// Whether at most one number was added since the last operation.
    bool is_recurrence() const { return additions_ - kept_ <= 1.0f; }
    double additions_to_keep() const {
        return std::min(additions(), is_recurrence() ? recurrence_additions : short_sum_additions);
    }
    /// The error without the roundings of additions that the result keeps.
    double error_of_terms() const {
        if (additions() <= short_sum_additions) return error_;
        return is_recurrence() ? error_after(short_sum_additions + 1.0) : error();
    }
    static Bounded multiplied(const Bounded& a, const Bounded& b) {
        // No kernel multiplies out two sums: that is a worse formula, as for the mean square.
        const bool is_sum_a = !a.is_one_term() || (b.is_one_term() && a.additions_ >= b.additions_);
        const Bounded &sum = is_sum_a ? a : b, &factor = is_sum_a ? b : a;
        if (!factor.is_one_term())
            return after_operation(
                a.value_ * b.value_, propagated(a, a.error(), b), 1.0,
                {.magnitude = a.may_be_infinite() || b.may_be_infinite() ? INFINITY : 0.0,
                 .additions = 0.0});
        const double size = factor.may_be_infinite() ? INFINITY : std::abs(factor.value_);
        return after_operation(
            a.value_ * b.value_, propagated(sum, sum.error_of_terms(), factor), 1.0,
            {.magnitude = sum.magnitude_ * size, .additions = sum.additions_to_keep()});
    }
    /// The error of a product from its factors' errors; the error of a is given.
    static double propagated(const Bounded& a, double error_of_a, const Bounded& b) {
        const double eb = b.error();
        return std::abs(a.value_) * eb + std::abs(b.value_) * error_of_a + error_of_a * eb;
    }

    double value_ = 0.0;
    double error_ = 0.0;
    double magnitude_ = 0.0;
    float additions_ = 0.0f;
    float kept_ = 0.0f;  ///< of the additions, those before the last operation
};

/// The number of this name, rounded where `current_rounding` says so.
inline Bounded rounded_by_name(std::string_view name, const Bounded& number) {
    const std::optional<DType> type = current_rounding.type_of(name);
    return type ? number.rounded_in(*type) : number;
}

}  // namespace gradverify
