// SPDX-License-Identifier: Apache-2.0
// The table of elementary functions that a forward function may call: the value, the derivative,
// and how far CUDA's float implementation may be off. A scalar has every function of the table
// through its `detail::apply_function`, or `apply_step` where it jumps.
//
// Errors are in units of the last place of the correctly rounded result, as in the tables of the
// CUDA C++ Programming Guide, "Mathematical Functions". The fast form is that of --use_fast_math or
// of the intrinsic with two underscores, where it differs.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "harness/numbers/autodiff/plain_numbers.hpp"

namespace gradverify {

// The functions for double; the standard library lacks rsqrt and those below it.
using std::abs, std::fabs, std::fmax, std::fmin, std::pow;
using std::atan, std::cbrt, std::cos, std::cosh, std::erf, std::erfc, std::exp, std::exp2,
    std::expm1, std::log, std::log1p, std::log2, std::sin, std::sinh, std::sqrt, std::tanh;
using std::ceil, std::floor, std::rint, std::round, std::trunc;
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline double sigmoid(double x) {
    const double small = std::exp(-std::abs(x));
    return (x < 0.0 ? small : 1.0) / (1.0 + small);
}
inline double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
inline double log_sigmoid(double x) { return -softplus(-x); }
inline double max(double a, double b) { return a < b ? b : a; }
inline double min(double a, double b) { return b < a ? b : a; }

namespace functions {

/// The error of an implementation of a function: `ulps` of the result, and an absolute part.
struct Accuracy {
    double ulps;
    double absolute;
};

// The fast logarithms and sines have an absolute error near their zeros.
constexpr double fast_absolute = 0x1p-21;

/// x to the power of y, for a positive x, or a whole constant y.
struct Pow {
    static double value(double x, double y) { return std::pow(x, y); }
    static constexpr double ulps = 4.0;
    /// Computed as 2 to the power of y * log2(x).
    static Accuracy fast(double x, double y) {
        const double exponent = std::abs(y * std::log2(std::abs(x)));
        return {4.0 + 3.0 * std::floor(exponent), fast_absolute * std::abs(y * value(x, y))};
    }
};

}  // namespace functions

/// A function of x, called NAME: its value y, its derivative, and its error in units of the last
/// place; then its fast form and the errors of other formulas for it, if it has any.
#define GRADVERIFY_DETAIL_FUNCTION(NAME, TYPE, VALUE, DERIVATIVE, ULPS, ...)            \
    namespace functions {                                                               \
    struct TYPE {                                                                       \
        static double value(double x) { return VALUE; }                                 \
        template <class S>                                                              \
        static S derivative([[maybe_unused]] const S& x, [[maybe_unused]] const S& y) { \
            return DERIVATIVE;                                                          \
        }                                                                               \
        static constexpr double ulps = ULPS;                                            \
        __VA_ARGS__                                                                     \
    };                                                                                  \
    }                                                                                   \
    template <detail::Scalar S>                                                         \
    S NAME(const S& x) {                                                                \
        return apply_function<functions::TYPE>(x);                                      \
    }
/// A function whose value is constant between jumps, so that its derivative is zero.
#define GRADVERIFY_DETAIL_STEP(NAME, TYPE)                     \
    namespace functions {                                      \
    struct TYPE {                                              \
        static double value(double x) { return std::NAME(x); } \
    };                                                         \
    }                                                          \
    template <detail::Scalar S>                                \
    S NAME(const S& x) {                                       \
        return apply_step<functions::TYPE>(x);                 \
    }
GRADVERIFY_DETAIL_STEP(ceil, Ceil)
GRADVERIFY_DETAIL_STEP(floor, Floor)
GRADVERIFY_DETAIL_STEP(rint, Rint)
GRADVERIFY_DETAIL_STEP(round, Round)
GRADVERIFY_DETAIL_STEP(trunc, Trunc)
#undef GRADVERIFY_DETAIL_STEP

#define GRADVERIFY_DETAIL_FAST(ULPS, ABSOLUTE) \
    static Accuracy fast([[maybe_unused]] double x) { return {ULPS, ABSOLUTE}; }
/// Kernels may compute the function by another base, as exp(x) by exp2(x log2(e)): the argument is
/// rounded twice more, the constant and the product.
#define GRADVERIFY_DETAIL_ANY_BASE static constexpr double argument_roundings = 2.0;
/// Kernels may compute the function as a sum with a constant of about 1, and have its rounding.
#define GRADVERIFY_DETAIL_BESIDE_ONE static constexpr double absolute_roundings = 4.0;
/// Other formulas for the function are sums of numbers of about 1, as erf(x) = 1 - erfc(x).
#define GRADVERIFY_DETAIL_OF_ONES static constexpr bool is_of_ones = true;
/// Other formulas add 1 to the argument or to the result first, as log1p(x) = log(1 + x).
#define GRADVERIFY_DETAIL_MEETS_ONE static constexpr bool meets_one = true;

/// Counts two more roundings: hardware may multiply by a reciprocal.
GRADVERIFY_DETAIL_FUNCTION(sqrt, Sqrt, std::sqrt(x), S(0.5) / y, 1.0,
                           GRADVERIFY_DETAIL_FAST(3.0, 0.0))
GRADVERIFY_DETAIL_FUNCTION(rsqrt, Rsqrt, rsqrt(x), S(-0.5) * y * y * y, 2.0)
GRADVERIFY_DETAIL_FUNCTION(cbrt, Cbrt, std::cbrt(x), S(1.0) / (S(3.0) * y * y), 1.0)
GRADVERIFY_DETAIL_FUNCTION(exp, Exp, std::exp(x), y, 1.0,
                           GRADVERIFY_DETAIL_FAST(2.0 + std::floor(std::abs(1.173 * x)), 0.0)
                               GRADVERIFY_DETAIL_ANY_BASE)
GRADVERIFY_DETAIL_FUNCTION(exp2, Exp2, std::exp2(x), S(std::numbers::ln2) * y, 2.0,
                           GRADVERIFY_DETAIL_FAST(2.0 + std::floor(std::abs(x)), 0.0)
                               GRADVERIFY_DETAIL_ANY_BASE)
GRADVERIFY_DETAIL_FUNCTION(expm1, Expm1, std::expm1(x), exp(x), 1.0, GRADVERIFY_DETAIL_OF_ONES)
/// Log and Log2 count two more roundings: a logarithm of another base times a constant.
GRADVERIFY_DETAIL_FUNCTION(log, Log, std::log(x), S(1.0) / x, 2.0,
                           GRADVERIFY_DETAIL_FAST(3.0, fast_absolute))
GRADVERIFY_DETAIL_FUNCTION(log2, Log2, std::log2(x), S(1.0 / std::numbers::ln2) / x, 2.0,
                           GRADVERIFY_DETAIL_FAST(2.0, fast_absolute))
GRADVERIFY_DETAIL_FUNCTION(log1p, Log1p, std::log1p(x), S(1.0) / (S(1.0) + x), 1.0,
                           GRADVERIFY_DETAIL_OF_ONES GRADVERIFY_DETAIL_MEETS_ONE)
/// The fast sines are stated for [-pi, pi]; beyond, reducing the argument loses its integer bits.
#define GRADVERIFY_DETAIL_FAST_SINE \
    GRADVERIFY_DETAIL_FAST(2.0, fast_absolute* std::max(1.0, std::abs(x)))
GRADVERIFY_DETAIL_FUNCTION(sin, Sin, std::sin(x), cos(x), 2.0,
                           GRADVERIFY_DETAIL_FAST_SINE GRADVERIFY_DETAIL_OF_ONES)
GRADVERIFY_DETAIL_FUNCTION(cos, Cos, std::cos(x), -sin(x), 2.0,
                           GRADVERIFY_DETAIL_FAST_SINE GRADVERIFY_DETAIL_OF_ONES)
GRADVERIFY_DETAIL_FUNCTION(sinh, Sinh, std::sinh(x), cosh(x), 3.0, GRADVERIFY_DETAIL_OF_ONES)
GRADVERIFY_DETAIL_FUNCTION(cosh, Cosh, std::cosh(x), sinh(x), 2.0)
/// Kernels may compute it as 1 - 2 / (exp(2 x) + 1), which has the accuracy of the 1. The fast form
/// is tanh.approx, with a relative error of 2^-10.987.
GRADVERIFY_DETAIL_FUNCTION(tanh, Tanh, std::tanh(x), S(1.0) - y * y, 2.0,
                           GRADVERIFY_DETAIL_FAST(0x1.02p+13, 0.0)
                               GRADVERIFY_DETAIL_BESIDE_ONE GRADVERIFY_DETAIL_OF_ONES)
/// Kernels may compute it as 0.5 + 0.5 tanh(x / 2), which has the accuracy of the 0.5; and its
/// derivative from the result, which loses what 1 - y cancels. The fast form has the fast exp's
/// error, as far as it shows beside the 1, and a fast division's; or tanh.approx's.
GRADVERIFY_DETAIL_FUNCTION(
    sigmoid, Sigmoid, sigmoid(x), y*(S(1.0) - y), 4.0,
    GRADVERIFY_DETAIL_FAST(6.0 + std::floor(std::abs(1.173 * std::min(x, 0.0))), 0x1.02p-12)
        GRADVERIFY_DETAIL_ANY_BASE GRADVERIFY_DETAIL_BESIDE_ONE GRADVERIFY_DETAIL_OF_ONES)
/// log(1 + exp(x)) and -log(1 + exp(-x)), which no kernel may compute as they stand: exp overflows,
/// and beside the 1 small results are lost. The one function has no branch between its stable forms
/// for either sign, nor the rounding of both. An exp and a log1p of one ulp each, and a sum.
#define GRADVERIFY_DETAIL_LOG_OF_ONE_AND_EXP                                     \
    GRADVERIFY_DETAIL_FAST(6.0 + std::floor(std::abs(1.173 * x)), fast_absolute) \
    GRADVERIFY_DETAIL_ANY_BASE GRADVERIFY_DETAIL_OF_ONES
GRADVERIFY_DETAIL_FUNCTION(softplus, Softplus, softplus(x), sigmoid(x), 4.0,
                           GRADVERIFY_DETAIL_LOG_OF_ONE_AND_EXP)
GRADVERIFY_DETAIL_FUNCTION(log_sigmoid, LogSigmoid, log_sigmoid(x), sigmoid(-x), 4.0,
                           GRADVERIFY_DETAIL_LOG_OF_ONE_AND_EXP)
#undef GRADVERIFY_DETAIL_LOG_OF_ONE_AND_EXP
GRADVERIFY_DETAIL_FUNCTION(atan, Atan, std::atan(x), S(1.0) / (S(1.0) + x * x), 2.0,
                           GRADVERIFY_DETAIL_OF_ONES)
GRADVERIFY_DETAIL_FUNCTION(erf, Erf, std::erf(x), S(2.0 * std::numbers::inv_sqrtpi) * exp(-(x * x)),
                           2.0, GRADVERIFY_DETAIL_OF_ONES)
GRADVERIFY_DETAIL_FUNCTION(erfc, Erfc, std::erfc(x),
                           S(-2.0 * std::numbers::inv_sqrtpi) * exp(-(x * x)), 4.0,
                           GRADVERIFY_DETAIL_OF_ONES)

}  // namespace gradverify
