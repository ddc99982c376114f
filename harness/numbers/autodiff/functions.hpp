// SPDX-License-Identifier: Apache-2.0
// Decides what is known of each elementary function that a forward function may call: its value,
// its derivative, and how far CUDA's float implementation may be off. A scalar is derived from this
// table; see DEFINE_FUNCTIONS at the end.
//
// Errors are in units of the last place of the correctly rounded result, as in the tables of the
// CUDA C++ Programming Guide, "Mathematical Functions": the second column is what --use_fast_math
// or the intrinsic with two underscores gives, where that differs.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gradverify {

// Beside the scalars' own, for double; rsqrt, sigmoid, max and min it lacks.
using std::abs, std::fabs, std::fmax, std::fmin, std::pow;
using std::atan, std::cbrt, std::cos, std::cosh, std::erf, std::erfc, std::exp, std::exp2,
    std::expm1, std::log, std::log1p, std::log2, std::sin, std::sinh, std::sqrt, std::tanh;
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline double sigmoid(double x) {
    const double small = std::exp(-std::abs(x));
    return (x < 0.0 ? small : 1.0) / (1.0 + small);
}
inline double max(double a, double b) { return a < b ? b : a; }
inline double min(double a, double b) { return b < a ? b : a; }

}  // namespace gradverify

namespace gradverify::functions {

/// What an implementation of a function may be off by: `ulps` of the result, and an absolute part.
struct Accuracy {
    double ulps;
    double absolute;
};

/// For functions whose fast form is the accurate one.
struct NoFastForm {
    static Accuracy fast(double) { return {-1.0, 0.0}; }
};

/// For functions that kernels compute by way of another base, as exp(x) by exp2(x log2(e)): the
/// argument is rounded twice more, the constant and the product.
struct AnyBase {
    static constexpr double argument_roundings = 2.0;
};

// The fast logarithms and sines have an absolute error near their zeros.
constexpr double fast_absolute = 0x1p-21;

/// Counts two more roundings: hardware may multiply by a reciprocal.
struct Sqrt {
    static double value(double x) { return std::sqrt(x); }
    template <class S>
    static S derivative(const S&, const S& y) {
        return S(0.5) / y;
    }
    static constexpr double ulps = 1.0;
    static Accuracy fast(double) { return {3.0, 0.0}; }
};
struct Rsqrt : NoFastForm {
    static double value(double x) { return 1.0 / std::sqrt(x); }
    template <class S>
    static S derivative(const S&, const S& y) {
        return S(-0.5) * y * y * y;
    }
    static constexpr double ulps = 2.0;
};
struct Cbrt : NoFastForm {
    static double value(double x) { return std::cbrt(x); }
    template <class S>
    static S derivative(const S&, const S& y) {
        return S(1.0) / (S(3.0) * y * y);
    }
    static constexpr double ulps = 1.0;
};
struct Exp : AnyBase {
    static double value(double x) { return std::exp(x); }
    template <class S>
    static S derivative(const S&, const S& y) {
        return y;
    }
    static constexpr double ulps = 1.0;
    static Accuracy fast(double x) { return {2.0 + std::floor(std::abs(1.173 * x)), 0.0}; }
};
struct Exp2 : AnyBase {
    static double value(double x) { return std::exp2(x); }
    template <class S>
    static S derivative(const S&, const S& y) {
        return S(std::numbers::ln2) * y;
    }
    static constexpr double ulps = 2.0;
    static Accuracy fast(double x) { return {2.0 + std::floor(std::abs(x)), 0.0}; }
};
struct Expm1 : NoFastForm {
    static double value(double x) { return std::expm1(x); }
    template <class S>
    static S derivative(const S& x, const S&) {
        return exp(x);
    }
    static constexpr double ulps = 1.0;
};
/// Counts two more roundings: a logarithm of another base times a constant.
struct Log {
    static double value(double x) { return std::log(x); }
    template <class S>
    static S derivative(const S& x, const S&) {
        return S(1.0) / x;
    }
    static constexpr double ulps = 2.0;
    static Accuracy fast(double) { return {3.0, fast_absolute}; }
};
/// Counts two more roundings: a logarithm of another base times a constant.
struct Log2 {
    static double value(double x) { return std::log2(x); }
    template <class S>
    static S derivative(const S& x, const S&) {
        return S(1.0 / std::numbers::ln2) / x;
    }
    static constexpr double ulps = 2.0;
    static Accuracy fast(double) { return {2.0, fast_absolute}; }
};
struct Log1p : NoFastForm {
    static double value(double x) { return std::log1p(x); }
    template <class S>
    static S derivative(const S& x, const S&) {
        return S(1.0) / (S(1.0) + x);
    }
    static constexpr double ulps = 1.0;
};
struct Sin {
    static double value(double x) { return std::sin(x); }
    template <class S>
    static S derivative(const S& x, const S&) {
        return cos(x);
    }
    static constexpr double ulps = 2.0;
    // Stated for [-pi, pi]; beyond, the reduction of the argument loses what x has in integer bits.
    static Accuracy fast(double x) { return {2.0, fast_absolute * std::max(1.0, std::abs(x))}; }
};
struct Cos {
    static double value(double x) { return std::cos(x); }
    template <class S>
    static S derivative(const S& x, const S&) {
        return -sin(x);
    }
    static constexpr double ulps = 2.0;
    static Accuracy fast(double x) { return {2.0, fast_absolute * std::max(1.0, std::abs(x))}; }
};
struct Sinh : NoFastForm {
    static double value(double x) { return std::sinh(x); }
    template <class S>
    static S derivative(const S& x, const S&) {
        return cosh(x);
    }
    static constexpr double ulps = 3.0;
};
struct Cosh : NoFastForm {
    static double value(double x) { return std::cosh(x); }
    template <class S>
    static S derivative(const S& x, const S&) {
        return sinh(x);
    }
    static constexpr double ulps = 2.0;
};
/// Kernels compute it as 1 - 2 / (exp(2 x) + 1) too, which has the accuracy of the 1.
struct Tanh {
    static double value(double x) { return std::tanh(x); }
    template <class S>
    static S derivative(const S&, const S& y) {
        return S(1.0) - y * y;
    }
    static constexpr double ulps = 2.0;
    static constexpr double absolute_roundings = 4.0;
    // tanh.approx: a relative error of 2^-10.987.
    static Accuracy fast(double) { return {0x1.02p+13, 0.0}; }
};
/// Kernels compute it as 0.5 + 0.5 tanh(x / 2) too, which has the accuracy of the 0.5; and its
/// derivative from the result, which loses what 1 - y cancels.
struct Sigmoid : AnyBase {
    static double value(double x) { return sigmoid(x); }
    template <class S>
    static S derivative(const S&, const S& y) {
        return y * (S(1.0) - y);
    }
    static constexpr double ulps = 4.0;
    static constexpr double absolute_roundings = 4.0;
    // Of the fast exp, as far as it is seen beside the 1, and of a fast division; tanh.approx.
    static Accuracy fast(double x) {
        return {6.0 + std::floor(std::abs(1.173 * std::min(x, 0.0))), 0x1.02p-12};
    }
};
struct Atan : NoFastForm {
    static double value(double x) { return std::atan(x); }
    template <class S>
    static S derivative(const S& x, const S&) {
        return S(1.0) / (S(1.0) + x * x);
    }
    static constexpr double ulps = 2.0;
};
struct Erf : NoFastForm {
    static double value(double x) { return std::erf(x); }
    template <class S>
    static S derivative(const S& x, const S&) {
        return S(2.0 * std::numbers::inv_sqrtpi) * exp(-(x * x));
    }
    static constexpr double ulps = 2.0;
};
struct Erfc : NoFastForm {
    static double value(double x) { return std::erfc(x); }
    template <class S>
    static S derivative(const S& x, const S&) {
        return S(-2.0 * std::numbers::inv_sqrtpi) * exp(-(x * x));
    }
    static constexpr double ulps = 4.0;
};

/// x to the power of y, for a positive x, or a whole constant y.
struct Pow {
    static double value(double x, double y) { return std::pow(x, y); }
    static constexpr double ulps = 4.0;
    /// As 2 to the power of y * log2(x).
    static Accuracy fast(double x, double y) {
        const double exponent = std::abs(y * std::log2(std::abs(x)));
        return {4.0 + 3.0 * std::floor(exponent), fast_absolute * std::abs(y * value(x, y))};
    }
};

}  // namespace gradverify::functions

/// Defines every function of one argument for a scalar S through `apply_function<F>(x)`.
#define GRADVERIFY_DETAIL_DEFINE_FUNCTIONS(S)                                              \
    inline S sqrt(const S& x) { return detail::apply_function<functions::Sqrt>(x); }       \
    inline S rsqrt(const S& x) { return detail::apply_function<functions::Rsqrt>(x); }     \
    inline S cbrt(const S& x) { return detail::apply_function<functions::Cbrt>(x); }       \
    inline S exp(const S& x) { return detail::apply_function<functions::Exp>(x); }         \
    inline S exp2(const S& x) { return detail::apply_function<functions::Exp2>(x); }       \
    inline S expm1(const S& x) { return detail::apply_function<functions::Expm1>(x); }     \
    inline S log(const S& x) { return detail::apply_function<functions::Log>(x); }         \
    inline S log2(const S& x) { return detail::apply_function<functions::Log2>(x); }       \
    inline S log1p(const S& x) { return detail::apply_function<functions::Log1p>(x); }     \
    inline S sin(const S& x) { return detail::apply_function<functions::Sin>(x); }         \
    inline S cos(const S& x) { return detail::apply_function<functions::Cos>(x); }         \
    inline S sinh(const S& x) { return detail::apply_function<functions::Sinh>(x); }       \
    inline S cosh(const S& x) { return detail::apply_function<functions::Cosh>(x); }       \
    inline S tanh(const S& x) { return detail::apply_function<functions::Tanh>(x); }       \
    inline S sigmoid(const S& x) { return detail::apply_function<functions::Sigmoid>(x); } \
    inline S atan(const S& x) { return detail::apply_function<functions::Atan>(x); }       \
    inline S erf(const S& x) { return detail::apply_function<functions::Erf>(x); }         \
    inline S erfc(const S& x) { return detail::apply_function<functions::Erfc>(x); }       \
    inline S fabs(const S& x) { return abs(x); }                                           \
    inline S fmax(const S& a, const S& b) { return max(a, b); }                            \
    inline S fmin(const S& a, const S& b) { return min(a, b); }
