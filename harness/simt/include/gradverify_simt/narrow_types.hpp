// SPDX-License-Identifier: Apache-2.0
// What cuda_fp16.h and cuda_bf16.h share: a type of 16 bits, a pair of it, operators, and
// intrinsics as accurate as the type allows. Arithmetic rounds once, as on a GPU.
#pragma once
#pragma GCC system_header

#include <cmath>
#include <type_traits>

#include "gradverify_simt/intrinsics.hpp"
#include "gradverify_simt/math.hpp"
#include "gradverify_simt/narrow_float.hpp"
#include "gradverify_simt/state.hpp"
#include "gradverify_simt/sync.hpp"

/// CONVERSION is `explicit` where the user has switched implicit conversions off.
#define GRADVERIFY_SIMT_NARROW_TYPE(T, T2, FORMAT, CONVERSION)                                     \
    struct T##_raw {                                                                               \
        unsigned short x;                                                                          \
    };                                                                                             \
    struct alignas(4) T2##_raw {                                                                   \
        unsigned short x, y;                                                                       \
    };                                                                                             \
    struct alignas(2) T {                                                                          \
        using gradverify_format = ::gradverify::simt::unit::FORMAT;                                \
        unsigned short gradverify_bits;                                                            \
        T() = default;                                                                             \
        constexpr T(T##_raw raw) : gradverify_bits(raw.x) {}                                       \
        CONVERSION constexpr T(float value)                                                        \
            : gradverify_bits(gradverify_format::from_float(value)) {}                             \
        CONVERSION constexpr T(double value)                                                       \
            : gradverify_bits(                                                                     \
                  gradverify_format::from_float(::gradverify::simt::unit::to_odd_float(value))) {} \
        template <class I>                                                                         \
        requires(std::is_integral_v<I>)                                                            \
        CONVERSION constexpr T(I value) : T(static_cast<double>(value)) {}                         \
        CONVERSION constexpr operator float() const { return gradverify_float(); }                 \
        constexpr operator T##_raw() const { return {gradverify_bits}; }                           \
        constexpr float gradverify_float() const {                                                 \
            return gradverify_format::to_float(gradverify_bits);                                   \
        }                                                                                          \
        static constexpr T gradverify_of(float value) {                                            \
            return T##_raw{gradverify_format::from_float(value)};                                  \
        }                                                                                          \
    };                                                                                             \
    struct alignas(4) T2 {                                                                         \
        T x, y;                                                                                    \
        T2() = default;                                                                            \
        constexpr T2(const T& low, const T& high) : x(low), y(high) {}                             \
        constexpr T2(T2##_raw raw) : x(T##_raw{raw.x}), y(T##_raw{raw.y}) {}                       \
        constexpr operator T2##_raw() const { return {x.gradverify_bits, y.gradverify_bits}; }     \
        static constexpr T2 gradverify_of(float low, float high) {                                 \
            return T2(T::gradverify_of(low), T::gradverify_of(high));                              \
        }                                                                                          \
    };

#define GRADVERIFY_SIMT_NARROW_ARITHMETIC(T, ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE) \
    inline T operator+(const T& a, const T& b) { return ADD(a, b); }                  \
    inline T operator-(const T& a, const T& b) { return SUBTRACT(a, b); }             \
    inline T operator*(const T& a, const T& b) { return MULTIPLY(a, b); }             \
    inline T operator/(const T& a, const T& b) { return DIVIDE(a, b); }               \
    inline T operator-(const T& a) { return NEGATE(a); }                              \
    inline T& operator+=(T& a, const T& b) { return a = a + b; }                      \
    inline T& operator-=(T& a, const T& b) { return a = a - b; }                      \
    inline T& operator*=(T& a, const T& b) { return a = a * b; }                      \
    inline T& operator/=(T& a, const T& b) { return a = a / b; }

#define GRADVERIFY_SIMT_NARROW_OPERATORS(T)                                                  \
    GRADVERIFY_SIMT_NARROW_ARITHMETIC(T, __hadd, __hsub, __hmul, __hdiv, __hneg)             \
    inline T operator+(const T& a) { return a; }                                             \
    inline T& operator++(T& a) { return a = T::gradverify_of(a.gradverify_float() + 1.0f); } \
    inline T& operator--(T& a) { return a = T::gradverify_of(a.gradverify_float() - 1.0f); } \
    inline bool operator==(const T& a, const T& b) { return __heq(a, b); }                   \
    inline bool operator!=(const T& a, const T& b) { return __hneu(a, b); }                  \
    inline bool operator<(const T& a, const T& b) { return __hlt(a, b); }                    \
    inline bool operator<=(const T& a, const T& b) { return __hle(a, b); }                   \
    inline bool operator>(const T& a, const T& b) { return __hgt(a, b); }                    \
    inline bool operator>=(const T& a, const T& b) { return __hge(a, b); }

#define GRADVERIFY_SIMT_NARROW_PAIR_OPERATORS(T2)                                      \
    GRADVERIFY_SIMT_NARROW_ARITHMETIC(T2, __hadd2, __hsub2, __hmul2, __h2div, __hneg2) \
    inline bool operator==(const T2& a, const T2& b) { return __hbeq2(a, b); }

namespace gradverify::simt::unit {
template <class T>
T narrow_clamped(T value) {
    const float x = value.gradverify_float();
    return T::gradverify_of(x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f);
}
template <class T>
T narrow_fused(T a, T b, T c) {
    return T::gradverify_of(
        fused_to_odd(a.gradverify_float(), b.gradverify_float(), c.gradverify_float()));
}
/// The smaller or the larger of two numbers; where one is NaN, the other. -0 is less than +0.
template <bool is_larger, class T>
T narrow_extreme(T a, T b) {
    const float x = a.gradverify_float(), y = b.gradverify_float();
    if (x != x) return y != y ? T::gradverify_of(x) : b;
    if (y != y) return a;
    const bool b_is_less = y < x || (y == x && std::signbit(y));
    return b_is_less != is_larger ? b : a;
}
}  // namespace gradverify::simt::unit

#define GRADVERIFY_SIMT_NARROW_UNARY(T, T2, NAME, NAME2, VALUE) \
    inline T NAME(T a) {                                        \
        const float x = a.gradverify_float();                   \
        return T::gradverify_of(static_cast<float>(VALUE));     \
    }                                                           \
    inline T2 NAME2(T2 a) { return T2(NAME(a.x), NAME(a.y)); }
#define GRADVERIFY_SIMT_NARROW_BINARY(T, T2, NAME, NAME2, VALUE)                         \
    inline T NAME(T a, T b) {                                                            \
        using namespace ::gradverify::simt::unit;                                        \
        [[maybe_unused]] const float x = a.gradverify_float(), y = b.gradverify_float(); \
        return VALUE;                                                                    \
    }                                                                                    \
    inline T2 NAME2(T2 a, T2 b) { return T2(NAME(a.x, b.x), NAME(a.y, b.y)); }
#define GRADVERIFY_SIMT_NARROW_FUSED(T, T2, SUFFIX, VALUE)                       \
    inline T __hfma##SUFFIX(T a, T b, T c) {                                     \
        using namespace ::gradverify::simt::unit;                                \
        return VALUE;                                                            \
    }                                                                            \
    inline T2 __hfma2##SUFFIX(T2 a, T2 b, T2 c) {                                \
        return T2(__hfma##SUFFIX(a.x, b.x, c.x), __hfma##SUFFIX(a.y, b.y, c.y)); \
    }
/// A comparison of two numbers, of each half of a pair (1 or 0), and of both halves (`__hb...`).
#define GRADVERIFY_SIMT_NARROW_COMPARISON(T, T2, SUFFIX, VALUE)                 \
    inline bool __h##SUFFIX(T a, T b) {                                         \
        const float x = a.gradverify_float(), y = b.gradverify_float();         \
        return VALUE;                                                           \
    }                                                                           \
    inline T2 __h##SUFFIX##2(T2 a, T2 b) {                                      \
        return T2::gradverify_of(__h##SUFFIX(a.x, b.x), __h##SUFFIX(a.y, b.y)); \
    }                                                                           \
    inline bool __hb##SUFFIX##2(T2 a, T2 b) {                                   \
        return __h##SUFFIX(a.x, b.x) && __h##SUFFIX(a.y, b.y);                  \
    }

#define GRADVERIFY_SIMT_NARROW_FUNCTIONS(T, T2)                                                 \
    GRADVERIFY_SIMT_NARROW_BINARY(T, T2, __hadd, __hadd2, T::gradverify_of(x + y))              \
    GRADVERIFY_SIMT_NARROW_BINARY(T, T2, __hsub, __hsub2, T::gradverify_of(x - y))              \
    GRADVERIFY_SIMT_NARROW_BINARY(T, T2, __hmul, __hmul2, T::gradverify_of(x* y))               \
    GRADVERIFY_SIMT_NARROW_BINARY(T, T2, __hdiv, __h2div, T::gradverify_of(x / y))              \
    GRADVERIFY_SIMT_NARROW_BINARY(T, T2, __hadd_rn, __hadd2_rn, T::gradverify_of(x + y))        \
    GRADVERIFY_SIMT_NARROW_BINARY(T, T2, __hsub_rn, __hsub2_rn, T::gradverify_of(x - y))        \
    GRADVERIFY_SIMT_NARROW_BINARY(T, T2, __hmul_rn, __hmul2_rn, T::gradverify_of(x* y))         \
    GRADVERIFY_SIMT_NARROW_BINARY(T, T2, __hadd_sat, __hadd2_sat, narrow_clamped(__hadd(a, b))) \
    GRADVERIFY_SIMT_NARROW_BINARY(T, T2, __hsub_sat, __hsub2_sat, narrow_clamped(__hsub(a, b))) \
    GRADVERIFY_SIMT_NARROW_BINARY(T, T2, __hmul_sat, __hmul2_sat, narrow_clamped(__hmul(a, b))) \
    GRADVERIFY_SIMT_NARROW_BINARY(T, T2, __hmin, __hmin2, narrow_extreme<false>(a, b))          \
    GRADVERIFY_SIMT_NARROW_BINARY(T, T2, __hmax, __hmax2, narrow_extreme<true>(a, b))           \
    GRADVERIFY_SIMT_NARROW_BINARY(T, T2, __hmin_nan, __hmin2_nan,                               \
                                  x != x || y != y ? T::gradverify_of(x + y) : __hmin(a, b))    \
    GRADVERIFY_SIMT_NARROW_BINARY(T, T2, __hmax_nan, __hmax2_nan,                               \
                                  x != x || y != y ? T::gradverify_of(x + y) : __hmax(a, b))    \
    GRADVERIFY_SIMT_NARROW_FUSED(T, T2, , narrow_fused(a, b, c))                                \
    GRADVERIFY_SIMT_NARROW_FUSED(T, T2, _sat, narrow_clamped(__hfma(a, b, c)))                  \
    GRADVERIFY_SIMT_NARROW_FUSED(                                                               \
        T, T2, _relu,                                                                           \
        __hfma(a, b, c).gradverify_float() < 0.0f ? T::gradverify_of(0.0f) : __hfma(a, b, c))   \
    inline T __hneg(T a) {                                                                      \
        return T##_raw{static_cast<unsigned short>(a.gradverify_bits ^ 0x8000u)};               \
    }                                                                                           \
    inline T __habs(T a) {                                                                      \
        return T##_raw{static_cast<unsigned short>(a.gradverify_bits & 0x7fffu)};               \
    }                                                                                           \
    inline T2 __hneg2(T2 a) { return T2(__hneg(a.x), __hneg(a.y)); }                            \
    inline T2 __habs2(T2 a) { return T2(__habs(a.x), __habs(a.y)); }                            \
    inline bool __hisnan(T a) { return a.gradverify_float() != a.gradverify_float(); }          \
    inline int __hisinf(T a) {                                                                  \
        return std::isinf(a.gradverify_float()) ? (a.gradverify_float() > 0 ? 1 : -1) : 0;      \
    }                                                                                           \
    inline T2 __hisnan2(T2 a) { return T2::gradverify_of(__hisnan(a.x), __hisnan(a.y)); }       \
    GRADVERIFY_SIMT_NARROW_COMPARISON(T, T2, eq, x == y)                                        \
    GRADVERIFY_SIMT_NARROW_COMPARISON(T, T2, ne, x < y || y < x)                                \
    GRADVERIFY_SIMT_NARROW_COMPARISON(T, T2, lt, x < y)                                         \
    GRADVERIFY_SIMT_NARROW_COMPARISON(T, T2, le, x <= y)                                        \
    GRADVERIFY_SIMT_NARROW_COMPARISON(T, T2, gt, x > y)                                         \
    GRADVERIFY_SIMT_NARROW_COMPARISON(T, T2, ge, x >= y)                                        \
    GRADVERIFY_SIMT_NARROW_COMPARISON(T, T2, equ, !(x < y || y < x))                            \
    GRADVERIFY_SIMT_NARROW_COMPARISON(T, T2, neu, x != y)                                       \
    GRADVERIFY_SIMT_NARROW_COMPARISON(T, T2, ltu, !(x >= y))                                    \
    GRADVERIFY_SIMT_NARROW_COMPARISON(T, T2, leu, !(x > y))                                     \
    GRADVERIFY_SIMT_NARROW_COMPARISON(T, T2, gtu, !(x <= y))                                    \
    GRADVERIFY_SIMT_NARROW_COMPARISON(T, T2, geu, !(x < y))                                     \
    GRADVERIFY_SIMT_NARROW_UNARY(T, T2, hsqrt, h2sqrt, std::sqrt(x))                            \
    GRADVERIFY_SIMT_NARROW_UNARY(T, T2, hrsqrt, h2rsqrt, 1.0 / std::sqrt(double{x}))            \
    GRADVERIFY_SIMT_NARROW_UNARY(T, T2, hrcp, h2rcp, 1.0f / x)                                  \
    GRADVERIFY_SIMT_NARROW_UNARY(T, T2, hexp, h2exp, std::exp(x))                               \
    GRADVERIFY_SIMT_NARROW_UNARY(T, T2, hexp2, h2exp2, std::exp2(x))                            \
    GRADVERIFY_SIMT_NARROW_UNARY(T, T2, hexp10, h2exp10, std::pow(10.0, double{x}))             \
    GRADVERIFY_SIMT_NARROW_UNARY(T, T2, hlog, h2log, std::log(x))                               \
    GRADVERIFY_SIMT_NARROW_UNARY(T, T2, hlog2, h2log2, std::log2(x))                            \
    GRADVERIFY_SIMT_NARROW_UNARY(T, T2, hlog10, h2log10, std::log10(x))                         \
    GRADVERIFY_SIMT_NARROW_UNARY(T, T2, hsin, h2sin, std::sin(x))                               \
    GRADVERIFY_SIMT_NARROW_UNARY(T, T2, hcos, h2cos, std::cos(x))                               \
    GRADVERIFY_SIMT_NARROW_UNARY(T, T2, htanh, h2tanh, std::tanh(x))                            \
    GRADVERIFY_SIMT_NARROW_UNARY(T, T2, htanh_approx, h2tanh_approx, std::tanh(x))              \
    GRADVERIFY_SIMT_NARROW_UNARY(T, T2, hfloor, h2floor, std::floor(x))                         \
    GRADVERIFY_SIMT_NARROW_UNARY(T, T2, hceil, h2ceil, std::ceil(x))                            \
    GRADVERIFY_SIMT_NARROW_UNARY(T, T2, htrunc, h2trunc, std::trunc(x))                         \
    GRADVERIFY_SIMT_NARROW_UNARY(T, T2, hrint, h2rint, std::nearbyint(x))                       \
    GRADVERIFY_SIMT_ACCESS T atomicAdd(T* address, T value) {                                   \
        T old;                                                                                  \
        old.gradverify_bits = ::gradverify::simt::unit::update(                                 \
            &address->gradverify_bits, [&](unsigned short bits) -> unsigned short {             \
                return __hadd(T##_raw{bits}, value).gradverify_bits;                            \
            });                                                                                 \
        return old;                                                                             \
    }                                                                                           \
    GRADVERIFY_SIMT_ACCESS T2 atomicAdd(T2* address, T2 value) {                                \
        return T2(atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y));            \
    }

/// Conversions whose names hold the type's: `__half2int_rn`, `__int2bfloat16_rz`.
#define GRADVERIFY_SIMT_NARROW_INTEGER(T, WORD, I, NAME)                                         \
    GRADVERIFY_SIMT_TO_INTEGER(__##WORD##2##NAME, T, I, x.gradverify_float())                    \
    inline T __##NAME##2##WORD##_rn(I a) {                                                       \
        return T::gradverify_of(::gradverify::simt::unit::to_odd_float(static_cast<double>(a))); \
    }
#define GRADVERIFY_SIMT_NARROW_ROUNDED(T, NAME, FORMAT, ROUNDING)  \
    inline T NAME(float a) {                                       \
        using namespace gradverify::simt::unit;                    \
        return T##_raw{FORMAT::from_float(a, Rounding::ROUNDING)}; \
    }

#define GRADVERIFY_SIMT_NARROW_CONVERSIONS(T, T2, WORD, FORMAT)                             \
    inline T __float2##WORD(float a) { return T::gradverify_of(a); }                        \
    inline T __float2##WORD##_rn(float a) { return T::gradverify_of(a); }                   \
    GRADVERIFY_SIMT_NARROW_ROUNDED(T, __float2##WORD##_rz, FORMAT, toward_zero)             \
    GRADVERIFY_SIMT_NARROW_ROUNDED(T, __float2##WORD##_ru, FORMAT, up)                      \
    GRADVERIFY_SIMT_NARROW_ROUNDED(T, __float2##WORD##_rd, FORMAT, down)                    \
    inline T __double2##WORD(double a) {                                                    \
        return T::gradverify_of(::gradverify::simt::unit::to_odd_float(a));                 \
    }                                                                                       \
    inline float __##WORD##2float(T a) { return a.gradverify_float(); }                     \
    inline T2 __float2##WORD##2_rn(float a) { return T2::gradverify_of(a, a); }             \
    inline T2 __floats2##WORD##2_rn(float a, float b) { return T2::gradverify_of(a, b); }   \
    inline T2 __float22##WORD##2_rn(float2 a) { return T2::gradverify_of(a.x, a.y); }       \
    inline float2 __##WORD##22float2(T2 a) {                                                \
        return {a.x.gradverify_float(), a.y.gradverify_float()};                            \
    }                                                                                       \
    inline float __low2float(T2 a) { return a.x.gradverify_float(); }                       \
    inline float __high2float(T2 a) { return a.y.gradverify_float(); }                      \
    inline T __low2##WORD(T2 a) { return a.x; }                                             \
    inline T __high2##WORD(T2 a) { return a.y; }                                            \
    inline T2 __low2##WORD##2(T2 a) { return T2(a.x, a.x); }                                \
    inline T2 __high2##WORD##2(T2 a) { return T2(a.y, a.y); }                               \
    inline T2 __lows2##WORD##2(T2 a, T2 b) { return T2(a.x, b.x); }                         \
    inline T2 __highs2##WORD##2(T2 a, T2 b) { return T2(a.y, b.y); }                        \
    inline T2 __lowhigh2highlow(T2 a) { return T2(a.y, a.x); }                              \
    inline T2 __halves2##WORD##2(T a, T b) { return T2(a, b); }                             \
    inline T2 __##WORD##2##WORD##2(T a) { return T2(a, a); }                                \
    inline short __##WORD##_as_short(T a) { return static_cast<short>(a.gradverify_bits); } \
    inline unsigned short __##WORD##_as_ushort(T a) { return a.gradverify_bits; }           \
    inline T __short_as_##WORD(short a) { return T##_raw{static_cast<unsigned short>(a)}; } \
    inline T __ushort_as_##WORD(unsigned short a) { return T##_raw{a}; }                    \
    GRADVERIFY_SIMT_NARROW_INTEGER(T, WORD, int, int)                                       \
    GRADVERIFY_SIMT_NARROW_INTEGER(T, WORD, unsigned, uint)                                 \
    GRADVERIFY_SIMT_NARROW_INTEGER(T, WORD, short, short)                                   \
    GRADVERIFY_SIMT_NARROW_INTEGER(T, WORD, unsigned short, ushort)                         \
    GRADVERIFY_SIMT_NARROW_INTEGER(T, WORD, long long, ll)                                  \
    GRADVERIFY_SIMT_NARROW_INTEGER(T, WORD, unsigned long long, ull)
