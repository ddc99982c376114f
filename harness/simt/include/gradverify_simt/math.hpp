// SPDX-License-Identifier: Apache-2.0
// CUDA's mathematical functions that the C++ library lacks, at its accuracy: the fast forms (__expf
// ...) are the accurate ones here, as macros where glibc declares their names.
#pragma once
#pragma GCC system_header

#include <cfloat>
#include <climits>
#include <cmath>
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
#undef GRADVERIFY_SIMT_UNARY

#define __expf expf
#define __exp10f exp10f
#define __logf logf
#define __log2f log2f
#define __log10f log10f
#define __sinf sinf
#define __cosf cosf
#define __tanf tanf
#define __powf powf
#define __sincosf sincosf
inline float __tanhf(float x) { return std::tanh(x); }

inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
inline float fdividef(float x, float y) { return x / y; }
/// Above 2^126 the divisor's reciprocal is flushed, as on a GPU.
inline float __fdividef(float x, float y) {
    const bool is_out_of_range = std::fabs(y) > 0x1p126f && !std::isinf(y);
    return is_out_of_range ? x * std::copysign(0.0f, y) : x / y;
}
inline double fdivide(double x, double y) { return x / y; }
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / std::sqrt(double{x})); }
#define GRADVERIFY_SIMT_OF_SEVERAL(T, F)                                  \
    inline void sincospi##F(T x, T* sine, T* cosine) {                    \
        *sine = sinpi##F(x);                                              \
        *cosine = cospi##F(x);                                            \
    }                                                                     \
    inline T norm3d##F(T a, T b, T c) { return std::hypot(a, b, c); }     \
    inline T norm4d##F(T a, T b, T c, T d) {                              \
        return std::hypot(std::hypot(a, b), std::hypot(c, d));            \
    }                                                                     \
    inline T rnorm3d##F(T a, T b, T c) { return 1 / norm3d##F(a, b, c); } \
    inline T rhypot##F(T a, T b) { return 1 / std::hypot(a, b); }
GRADVERIFY_SIMT_OF_SEVERAL(float, f)
GRADVERIFY_SIMT_OF_SEVERAL(double, )
#undef GRADVERIFY_SIMT_OF_SEVERAL

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
    // Near 1 the distance from 1 holds the digits.
    for (int step = 0; step < 4; ++step) {
        const double error = std::fabs(y) > 0.5 ? ((1.0 - std::fabs(y)) - std::erfc(std::fabs(x))) *
                                                      std::copysign(1.0, y)
                                                : std::erf(x) - y;
        x -= error * 0.5 * std::sqrt(M_PI) * std::exp(x * x);
    }
    return x;
}
inline float erfinvf(float y) { return static_cast<float>(erfinv(double{y})); }

// min and max, also of mixed arithmetic types: where one is NaN, the other. The pairs of types that
// CUDA has are no templates, so that they win over a library's templates of these names.
#define GRADVERIFY_SIMT_EXTREME(NAME, TAKES_Y)                                       \
    template <class A, class B>                                                      \
    requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)                     \
    constexpr std::common_type_t<A, B> NAME(A a, B b) {                              \
        using T = std::common_type_t<A, B>;                                          \
        const T x = static_cast<T>(a), y = static_cast<T>(b);                        \
        if constexpr (std::is_floating_point_v<T>) return x != x || TAKES_Y ? y : x; \
        return TAKES_Y ? y : x;                                                      \
    }
GRADVERIFY_SIMT_EXTREME(min, y < x)
GRADVERIFY_SIMT_EXTREME(max, x < y)
#undef GRADVERIFY_SIMT_EXTREME
#define GRADVERIFY_SIMT_EXTREMES(A, B)                                           \
    constexpr std::common_type_t<A, B> min(A a, B b) { return min<A, B>(a, b); } \
    constexpr std::common_type_t<A, B> max(A a, B b) { return max<A, B>(a, b); }
#define GRADVERIFY_SIMT_EXTREMES_OF(A, B) \
    GRADVERIFY_SIMT_EXTREMES(A, A)        \
    GRADVERIFY_SIMT_EXTREMES(A, B)        \
    GRADVERIFY_SIMT_EXTREMES(B, A)        \
    GRADVERIFY_SIMT_EXTREMES(B, B)
GRADVERIFY_SIMT_EXTREMES_OF(float, double)
GRADVERIFY_SIMT_EXTREMES_OF(int, unsigned)
GRADVERIFY_SIMT_EXTREMES_OF(long, unsigned long)
GRADVERIFY_SIMT_EXTREMES_OF(long long, unsigned long long)
#undef GRADVERIFY_SIMT_EXTREMES_OF
#undef GRADVERIFY_SIMT_EXTREMES
inline unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
