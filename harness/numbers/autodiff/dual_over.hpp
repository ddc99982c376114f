// SPDX-License-Identifier: Apache-2.0
// Carries the derivative along tangents through a forward function on another scalar (forward mode,
// nested): a value and its tangent, both numbers of S. Over Traced its tangent is recorded, so that
// one sweep backwards gives the derivative of a directional derivative (forward over reverse); over
// Dual it has a derivative of its own.
//
// A tangent's bound is that of a gradient in tape.hpp, forwards: the sum M of the magnitudes of all
// paths to it, their error E and the longest chain K of roundings, so that a kernel may sum and
// factor in any order, such as x_hat t with t less its mean, or not. K has no limit here.
//
// Values decide all branches, as they do without tangents, and S counts comparisons. Where a
// maximum, a minimum or |x| has a kink, either side's tangent is right. A plain constant has no
// tangent, and adds no operations.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <string_view>
#include <type_traits>

#include "harness/numbers/autodiff/dual.hpp"
#include "harness/numbers/autodiff/tape.hpp"

namespace gradverify {

namespace detail {

/// Whether products with this number are zero, whatever the other factor.
inline bool is_exact_zero(const Dual& x) { return x.value() == 0.0 && x.tangent() == 0.0; }
inline bool is_exact_zero(const Traced& x) {
    return x.is_constant() && x.value().value() == 0.0 && x.value().error() == 0.0;
}

/// What is known of the paths to a tangent.
struct Paths {
    double magnitude = 0.0, error = 0.0, roundings = 0.0;

    static Paths of(const Bounded& number) { return {std::abs(number.value()), number.error()}; }
    bool are_none() const { return magnitude == 0.0 && error == 0.0; }
    Paths through(const Bounded& slope) const {
        const double reach = std::abs(slope.value()) + slope.error();
        const bool is_copy = std::abs(slope.value()) == 1.0 && slope.error() == 0.0;
        return {magnitude * reach, error * reach + magnitude * slope.error(),
                roundings + (is_copy ? 0.0 : 1.0)};
    }
    Paths beside(const Paths& other) const {
        if (are_none()) return other;
        if (other.are_none()) return *this;
        return {magnitude + other.magnitude, error + other.error,
                std::max(roundings, other.roundings) + 1.0};
    }
    /// The tangent with the bound of its paths.
    Traced bound(const Traced& tangent) const {
        const Bounded& value = tangent.value();
        const double gamma = current_rounding.gamma_of_sum(roundings);
        const double off = current_rounding.may_overflow(magnitude + error)
                               ? INFINITY
                               : (1.0 + gamma) * error + gamma * (magnitude + error) +
                                     roundings * current_rounding.smallest_normal;
        if (are_none()) return tangent;
        return {Bounded::within(value.value(), std::max(value.error(), off)), tangent.node()};
    }
};
/// Directions are of exact numbers.
struct NoPaths {
    static NoPaths of(const Dual&) { return {}; }
    NoPaths through(const Dual&) const { return {}; }
    NoPaths beside(const NoPaths&) const { return {}; }
    const Dual& bound(const Dual& tangent) const { return tangent; }
};

/// The slope of a function, which other formulas compute by way of numbers of about 1.
template <class F>
Dual slope_by_any_formula(const Dual& slope) {
    return slope;
}
template <class F>
Traced slope_by_any_formula(const Traced& slope) {
    const Bounded& exact = slope.value();
    if constexpr (requires { F::is_of_ones; })
        return {exact.by_way_of(std::max(1.0, std::abs(exact.value()))), slope.node()};
    return slope;
}

/// A change of a number, and what is known of the paths to it.
template <class S>
struct TangentOf {
    using PathsToIt = std::conditional_t<std::same_as<S, Traced>, Paths, NoPaths>;
    S value{};
    PathsToIt paths{};

    TangentOf() = default;
    explicit TangentOf(const S& tangent) : value(tangent), paths(PathsToIt::of(plain(tangent))) {}
    TangentOf(const S& tangent, const PathsToIt& its) : value(its.bound(tangent)), paths(its) {}

    TangentOf operator-() const { return {-value, paths}; }
    friend TangentOf operator+(const TangentOf& a, const TangentOf& b) {
        if (is_exact_zero(a.value)) return b;
        if (is_exact_zero(b.value)) return a;
        return {a.value + b.value, a.paths.beside(b.paths)};
    }
    friend TangentOf operator-(const TangentOf& a, const TangentOf& b) { return a + -b; }
    /// A tangent of zero stays zero where the slope is infinite, or none.
    friend TangentOf operator*(const S& slope, const TangentOf& a) {
        return is_exact_zero(a.value) ? a
                                      : TangentOf{slope * a.value, a.paths.through(plain(slope))};
    }
    friend TangentOf operator/(const TangentOf& a, const S& divisor) {
        if (is_exact_zero(a.value)) return a;
        return {a.value / divisor, a.paths.through(inverse(plain(divisor)))};
    }

  private:
    static const Dual& plain(const Dual& number) { return number; }
    static const Bounded& plain(const Traced& number) { return number.value(); }
    static const Dual& inverse(const Dual& divisor) { return divisor; }
    static Bounded inverse(const Bounded& divisor) { return Bounded(1.0) / divisor; }
};

/// The tangent of the larger of two values. Dual numbers move: only where they stay equal, either
/// is right, and the result is no number.
inline TangentOf<Dual> tangent_of_larger(const Dual& a, const Dual& b, const TangentOf<Dual>& of_a,
                                         const TangentOf<Dual>& of_b) {
    const bool stay_equal = a.value() == b.value() && a.tangent() == b.tangent();
    if (stay_equal && of_a.value.value() != of_b.value.value())
        return TangentOf<Dual>(Dual(NAN, NAN));
    return a < b ? of_b : of_a;
}
/// Where rounding may turn the comparison, or at a tie, the bound has any tangent between the two.
inline TangentOf<Traced> tangent_of_larger(const Traced& a, const Traced& b,
                                           const TangentOf<Traced>& of_a,
                                           const TangentOf<Traced>& of_b) {
    const double apart = a.value().value() - b.value().value();
    if (std::abs(apart) > a.value().error() + b.value().error()) return apart < 0.0 ? of_b : of_a;
    const Traced &ta = of_a.value, &tb = of_b.value;
    if (ta.value().value() == tb.value().value() && ta.node() == tb.node()) return of_a;
    const Bounded half = Bounded::within(0.5, 0.5);
    const Paths paths = of_a.paths.through(half).beside(of_b.paths.through(half));
    const Bounded mean = Bounded::within((ta.value().value() + tb.value().value()) / 2.0, 0.0);
    return {Traced::made(mean, {ta.node(), 0.5, 0.5}, {tb.node(), 0.5, 0.5}), paths};
}

}  // namespace detail

/// **Ranges** S is Dual or Traced.
template <class S>
class DualOver : public detail::ScalarOperators<DualOver<S>> {
  public:
    using Tangent = detail::TangentOf<S>;

    DualOver() = default;
    DualOver(double constant) : value_(constant) {}
    explicit DualOver(const S& value) : value_(value) {}
    DualOver(const S& value, const S& tangent) : value_(value), tangent_(tangent) {}
    DualOver(const S& value, const Tangent& tangent) : value_(value), tangent_(tangent) {}

    const S& value() const { return value_; }
    const S& tangent() const { return tangent_.value; }
    const Tangent& tangent_with_paths() const { return tangent_; }

    DualOver operator-() const { return {-value_, -tangent_}; }
    DualOver& operator+=(const DualOver& b) { return *this = *this + b; }
    friend DualOver operator+(const DualOver& a, const DualOver& b) {
        return {a.value_ + b.value_, a.tangent_ + b.tangent_};
    }
    friend DualOver operator-(const DualOver& a, const DualOver& b) {
        return {a.value_ - b.value_, a.tangent_ - b.tangent_};
    }
    friend DualOver operator*(const DualOver& a, const DualOver& b) {
        return {a.value_ * b.value_, b.value_ * a.tangent_ + a.value_ * b.tangent_};
    }
    friend DualOver operator/(const DualOver& a, const DualOver& b) {
        const S value = a.value_ / b.value_;
        return {value, (a.tangent_ - value * b.tangent_) / b.value_};
    }

    friend bool operator<(const DualOver& a, const DualOver& b) { return a.value_ < b.value_; }
    friend bool operator==(const DualOver& a, const DualOver& b) { return a.value_ == b.value_; }

    friend DualOver max(const DualOver& a, const DualOver& b) {
        return {max(a.value_, b.value_),
                detail::tangent_of_larger(a.value_, b.value_, a.tangent_, b.tangent_)};
    }
    friend DualOver min(const DualOver& a, const DualOver& b) { return -max(-a, -b); }
    friend DualOver abs(const DualOver& x) {
        return {abs(x.value_),
                detail::tangent_of_larger(x.value_, -x.value_, x.tangent_, -x.tangent_)};
    }

  private:
    S value_{};
    Tangent tangent_{};
};

namespace detail {

template <class F, class S>
DualOver<S> apply_function(const DualOver<S>& x) {
    const S value = apply_function<F>(x.value());
    if (is_exact_zero(x.tangent())) return DualOver<S>(value);
    const S slope = F::derivative(x.value(), value);
    return {value, slope_by_any_formula<F>(slope) * x.tangent_with_paths()};
}

template <class F, class S>
DualOver<S> apply_step(const DualOver<S>& x) {
    return DualOver<S>(apply_step<F>(x.value()));
}

}  // namespace detail

/// Kernels declare no roundings of second derivatives and tangents.
template <class S>
DualOver<S> rounded_by_name(std::string_view, const DualOver<S>& number) {
    return number;
}

template <class S>
DualOver<S> pow(const DualOver<S>& x, const DualOver<S>& y) {
    const S value = pow(x.value(), y.value());
    typename DualOver<S>::Tangent tangent;
    if (!detail::is_exact_zero(x.tangent()))
        tangent = y.value() * pow(x.value(), y.value() - S(1.0)) * x.tangent_with_paths();
    if (!detail::is_exact_zero(y.tangent()))
        tangent = tangent + value * log(x.value()) * y.tangent_with_paths();
    return {value, tangent};
}

}  // namespace gradverify
