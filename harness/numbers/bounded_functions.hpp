// SPDX-License-Identifier: Apache-2.0
// Elementary functions, comparisons and choices of a Bounded. A function's propagated error is the
// largest change of its value when the argument moves by its error, at one of the two ends, since
// the functions are monotone or convex there. Its own error is in functions.hpp.
#pragma once

#include "harness/numbers/autodiff/decisions.hpp"
#include "harness/numbers/autodiff/functions.hpp"
#include "harness/numbers/rounding_bound.hpp"

namespace gradverify {

namespace detail {

/// The largest |f(x + t) - f(x)| over |t| <= error.
template <class F>
double reach_of(double x, double error) {
    if (error == 0.0) return 0.0;
    if constexpr (std::same_as<F, functions::Sin> || std::same_as<F, functions::Cos>)
        return std::min(error, 2.0);  // their slope is at most one, and so is their size
    const double at = F::value(x);
    const double below = std::abs(F::value(x - error) - at);
    const double above = std::abs(F::value(x + error) - at);
    // An end outside of the domain gives NaN.
    return below <= above || below > above ? std::max(below, above) : INFINITY;
}

template <class F, class... X>
Bounded with_accuracy(double value, double propagated, X... x) {
    if (std::isnan(value)) return Bounded(Bounded::Sum{value, INFINITY, 0.0, 0.0});
    functions::Accuracy accuracy{F::ulps, 0.0};
    if constexpr (requires { F::fast(x...); })
        if (current_rounding.is_fast) accuracy = F::fast(x...);
    // An ulp is at most two unit roundoffs; the tables start at the correctly rounded result.
    return Bounded::after_operation(value, propagated + accuracy.absolute,
                                    2.0 * accuracy.ulps + 1.0);
}

/// A result without a bound may be infinite, or NaN, where an argument may be.
inline Bounded as_open_as(const Bounded& x, const Bounded& result) {
    const bool is_open = x.may_be_infinite() && !std::isfinite(result.error());
    return is_open ? Bounded::unbounded(result.value(), true) : result;
}

/// The error of an argument, which a kernel may scale term by term for a function of another base.
template <class F>
double argument_error(const Bounded& x) {
    if constexpr (requires { F::argument_roundings; })
        return x.error() + current_rounding.gamma(F::argument_roundings) * x.magnitude();
    return x.error();
}

template <class F>
Bounded apply_function(const Bounded& x) {
    double propagated = reach_of<F>(x.value(), argument_error<F>(x));
    if constexpr (requires { F::absolute_roundings; })
        if (propagated > 0.0 || x.value() != 0.0)
            propagated += current_rounding.gamma(F::absolute_roundings);
    if constexpr (requires { F::is_of_ones; })
        if (const double loss = current_rounding.loss_of_formula; loss > 0.0)
            propagated += loss * std::max(1.0, std::abs(F::value(x.value())));
    return as_open_as(x, with_accuracy<F>(F::value(x.value()), propagated, x.value()));
}

/// Where rounding may carry the argument over a jump, each side's value is within the bound.
template <class F>
Bounded apply_step(const Bounded& x) {
    const double value = F::value(x.value());
    return Bounded::within(value, std::max(std::abs(F::value(x.value() - x.error()) - value),
                                           std::abs(F::value(x.value() + x.error()) - value)));
}

}  // namespace detail

/// Whether rounding may give a whole number another value.
inline bool may_jump(const Bounded& place) { return place.error() > 0.0; }

/// Whether a is less than b; counted as undecided where the errors could turn it.
inline bool operator<(const Bounded& a, const Bounded& b) {
    const double reach = a.error() + b.error();
    if (reach > 0.0 && !(std::abs(a.value() - b.value()) > reach)) ++current_decisions.undecided;
    return a.value() < b.value();
}
inline bool operator==(const Bounded& a, const Bounded& b) {
    static_cast<void>(a < b);
    return a.value() == b.value();
}

inline Bounded abs(const Bounded& x) {
    return detail::as_open_as(x, Bounded::within(std::abs(x.value()), x.error()));
}
/// The error is the larger operand's, or the larger one where either operand may be chosen.
inline Bounded max(const Bounded& a, const Bounded& b) {
    const double value = max(a.value(), b.value()), ea = a.error(), eb = b.error();
    double error = std::max(ea, eb);
    if (a.value() - b.value() > ea + eb) error = ea;
    if (b.value() - a.value() > ea + eb) error = eb;
    return detail::as_open_as(a, detail::as_open_as(b, Bounded::within(value, error)));
}
inline Bounded min(const Bounded& a, const Bounded& b) { return -max(-a, -b); }

inline Bounded pow(const Bounded& x, const Bounded& y) {
    using F = functions::Pow;
    const double value = F::value(x.value(), y.value());
    double propagated = 0.0;
    // Monotone in each argument where x is positive: the largest change is at a corner.
    for (const double dx : {-x.error(), x.error()})
        for (const double dy : {-y.error(), y.error()}) {
            const double change = std::abs(F::value(x.value() + dx, y.value() + dy) - value);
            propagated = change <= propagated ? propagated : change;
            if (std::isnan(change)) propagated = INFINITY;
        }
    if (x.error() >= std::abs(x.value()) && y.value() < 0.0) propagated = INFINITY;
    return detail::as_open_as(
        x,
        detail::as_open_as(y, detail::with_accuracy<F>(value, propagated, x.value(), y.value())));
}

}  // namespace gradverify
