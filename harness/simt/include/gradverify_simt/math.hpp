// SPDX-License-Identifier: Apache-2.0
// CUDA's mathematical functions that the C++ library lacks, at the accuracy of the C++ library:
// the fast forms (__expf ...) are the accurate ones here. glibc declares some of their names, so
// those are macros.
#pragma once
#pragma GCC system_header

#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <math.h>
#include <stdlib.h>

#include <algorithm>
#include <type_traits>

#define GRADVERIFY_SIMT_UNARY(NAME, T, VALUE) \
    inline T NAME(T x) { return VALUE; }

GRADVERIFY_SIMT_UNARY(rsqrtf, float, 1.0f / std::sqrt(x))
GRADVERIFY_SIMT_UNARY(rsqrt, double, 1.0 / std::sqrt(x))
GRADVERIFY_SIMT_UNARY(rsqrt, float, 1.0f / std::sqrt(x))
GRADVERIFY_SIMT_UNARY(rcbrtf, float, 1.0f / std::cbrt(x))
GRADVERIFY_SIMT_UNARY(rcbrt, double, 1.0 / std::cbrt(x))
GRADVERIFY_SIMT_UNARY(sinpi, double, std::sin(M_PI* std::remainder(x, 2.0)))
GRADVERIFY_SIMT_UNARY(cospi, double, std::cos(M_PI* std::remainder(x, 2.0)))
GRADVERIFY_SIMT_UNARY(sinpif, float, static_cast<float>(sinpi(double{x})))
GRADVERIFY_SIMT_UNARY(cospif, float, static_cast<float>(cospi(double{x})))
GRADVERIFY_SIMT_UNARY(normcdff, float, 0.5f * std::erfc(-x * 0.70710678118654752f))
GRADVERIFY_SIMT_UNARY(normcdf, double, 0.5 * std::erfc(-x * 0.70710678118654752))
GRADVERIFY_SIMT_UNARY(gradverify_simt_fast_exp, float, std::exp(x))
GRADVERIFY_SIMT_UNARY(gradverify_simt_fast_exp10, float, std::pow(10.0f, x))
GRADVERIFY_SIMT_UNARY(gradverify_simt_fast_log, float, std::log(x))
GRADVERIFY_SIMT_UNARY(gradverify_simt_fast_log2, float, std::log2(x))
GRADVERIFY_SIMT_UNARY(gradverify_simt_fast_log10, float, std::log10(x))
GRADVERIFY_SIMT_UNARY(gradverify_simt_fast_sin, float, std::sin(x))
GRADVERIFY_SIMT_UNARY(gradverify_simt_fast_cos, float, std::cos(x))
GRADVERIFY_SIMT_UNARY(gradverify_simt_fast_tan, float, std::tan(x))
#undef GRADVERIFY_SIMT_UNARY

inline float gradverify_simt_fast_pow(float x, float y) { return std::pow(x, y); }
inline void gradverify_simt_fast_sincos(float x, float* sine, float* cosine) {
    *sine = std::sin(x);
    *cosine = std::cos(x);
}
#define __expf gradverify_simt_fast_exp
#define __exp10f gradverify_simt_fast_exp10
#define __logf gradverify_simt_fast_log
#define __log2f gradverify_simt_fast_log2
#define __log10f gradverify_simt_fast_log10
#define __sinf gradverify_simt_fast_sin
#define __cosf gradverify_simt_fast_cos
#define __tanf gradverify_simt_fast_tan
#define __powf gradverify_simt_fast_pow
#define __sincosf gradverify_simt_fast_sincos
inline float __tanhf(float x) { return std::tanh(x); }

inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
inline float fdividef(float x, float y) { return x / y; }
inline float __fdividef(float x, float y) { return x / y; }
inline double fdivide(double x, double y) { return x / y; }
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / std::sqrt(double{x})); }
inline void sincospif(float x, float* sine, float* cosine) {
    *sine = sinpif(x);
    *cosine = cospif(x);
}
inline void sincospi(double x, double* sine, double* cosine) {
    *sine = sinpi(x);
    *cosine = cospi(x);
}
inline float norm3df(float a, float b, float c) { return std::hypot(a, b, c); }
inline double norm3d(double a, double b, double c) { return std::hypot(a, b, c); }
inline float norm4df(float a, float b, float c, float d) {
    return std::hypot(std::hypot(a, b), std::hypot(c, d));
}
inline double norm4d(double a, double b, double c, double d) {
    return std::hypot(std::hypot(a, b), std::hypot(c, d));
}
inline float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
inline double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
inline float rhypotf(float a, float b) { return 1.0f / std::hypot(a, b); }
inline double rhypot(double a, double b) { return 1.0 / std::hypot(a, b); }

/// exp(x^2) erfc(x); from 25 on by its asymptotic series, where erfc(x) underflows.
inline double erfcx(double x) {
    if (x < 25.0) return std::exp(x * x) * std::erfc(x);
    const double t = 0.5 / (x * x);
    return (1.0 - t * (1.0 - 3.0 * t * (1.0 - 5.0 * t))) / (x * std::sqrt(M_PI));
}
inline float erfcxf(float x) { return static_cast<float>(erfcx(double{x})); }
/// Newton's method on erf, from the approximation of Winitzki (2008).
inline double erfinv(double y) {
    if (!(std::fabs(y) < 1.0)) return y == 1.0 || y == -1.0 ? y * INFINITY : NAN;
    const double l = std::log1p(-y * y), a = 0.147, b = 2.0 / (M_PI * a) + 0.5 * l;
    double x = std::copysign(std::sqrt(std::sqrt(b * b - l / a) - b), y);
    // Near 1 the rest is what holds the digits.
    for (int step = 0; step < 4; ++step) {
        const double error = std::fabs(y) > 0.5 ? ((1.0 - std::fabs(y)) - std::erfc(std::fabs(x))) *
                                                      std::copysign(1.0, y)
                                                : std::erf(x) - y;
        x -= error * 0.5 * std::sqrt(M_PI) * std::exp(x * x);
    }
    return x;
}
inline float erfinvf(float y) { return static_cast<float>(erfinv(double{y})); }

// min and max in the global namespace, of mixed arithmetic types too, as in CUDA: of two numbers
// one of which is NaN, the other.
template <class A, class B>
requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
constexpr std::common_type_t<A, B> min(A a, B b) {
    using T = std::common_type_t<A, B>;
    const T x = static_cast<T>(a), y = static_cast<T>(b);
    if constexpr (std::is_floating_point_v<T>) return x != x ? y : (y < x ? y : x);
    return y < x ? y : x;
}
template <class A, class B>
requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
constexpr std::common_type_t<A, B> max(A a, B b) {
    using T = std::common_type_t<A, B>;
    const T x = static_cast<T>(a), y = static_cast<T>(b);
    if constexpr (std::is_floating_point_v<T>) return x != x ? y : (x < y ? y : x);
    return x < y ? y : x;
}
inline unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
