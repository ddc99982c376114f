// SPDX-License-Identifier: Apache-2.0
// CUDA's arithmetic, conversion and bit intrinsics. The directed roundings of conversions and of
// float sums and products are exact; those of quotients, roots and double arithmetic are missing.
#pragma once
#pragma GCC system_header

#include <cmath>
#include <cstdint>
#include <limits>

#include "gradverify_simt/language.hpp"
#include "gradverify_simt/narrow_float.hpp"
#include "gradverify_simt/vector_types.hpp"

#define GRADVERIFY_SIMT_ROUNDED(PREFIX, T)                 \
    inline T PREFIX##add_rn(T a, T b) { return a + b; }    \
    inline T PREFIX##sub_rn(T a, T b) { return a - b; }    \
    inline T PREFIX##mul_rn(T a, T b) { return a * b; }    \
    inline T PREFIX##div_rn(T a, T b) { return a / b; }    \
    inline T PREFIX##sqrt_rn(T a) { return std::sqrt(a); } \
    inline T PREFIX##rcp_rn(T a) { return T(1) / a; }
GRADVERIFY_SIMT_ROUNDED(__f, float)
GRADVERIFY_SIMT_ROUNDED(__d, double)
#undef GRADVERIFY_SIMT_ROUNDED
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }

namespace gradverify::simt::unit {
/// `exact` + `lost` to the float on one side of it; `lost` is less than half a unit of `exact`.
inline float directed(double exact, double lost, Rounding rounding) {
    const auto nearest = static_cast<float>(exact);
    const double over = (static_cast<double>(nearest) - exact) - lost;  // the sign is exact
    const bool is_down = rounding == Rounding::down || (rounding == Rounding::toward_zero &&
                                                        (exact > 0 || (exact == 0 && lost > 0)));
    const bool is_up = rounding == Rounding::up || (rounding == Rounding::toward_zero && !is_down);
    if (is_down && over > 0) return std::nextafter(nearest, -INFINITY);
    if (is_up && over < 0) return std::nextafter(nearest, INFINITY);
    return nearest;
}
inline float directed_fma(float a, float b, float c, Rounding rounding) {
    const double product = static_cast<double>(a) * b, sum = product + c;
    if (!std::isfinite(sum)) return static_cast<float>(sum);
    const double of_c = sum - product;
    return directed(sum, (product - (sum - of_c)) + (c - of_c), rounding);
}
/// Conversion to an integer as the GPU does it: NaN gives 0, what is out of range saturates.
template <class I, class F>
I saturating(F rounded) {
    using Limits = std::numeric_limits<I>;
    if (rounded != rounded) return 0;
    if (rounded >= static_cast<F>(Limits::max())) return Limits::max();
    if (rounded <= static_cast<F>(Limits::min())) return Limits::min();
    return static_cast<I>(rounded);
}
}  // namespace gradverify::simt::unit
#define GRADVERIFY_SIMT_DIRECTED(SUFFIX, ROUNDING)                                          \
    inline float __fmaf_##SUFFIX(float a, float b, float c) {                               \
        using namespace gradverify::simt::unit;                                             \
        return directed_fma(a, b, c, Rounding::ROUNDING);                                   \
    }                                                                                       \
    inline float __fadd_##SUFFIX(float a, float b) { return __fmaf_##SUFFIX(a, 1.0f, b); }  \
    inline float __fsub_##SUFFIX(float a, float b) { return __fmaf_##SUFFIX(a, 1.0f, -b); } \
    inline float __fmul_##SUFFIX(float a, float b) {                                        \
        using namespace gradverify::simt::unit;                                             \
        return directed(static_cast<double>(a) * b, 0.0, Rounding::ROUNDING);               \
    }                                                                                       \
    inline float __double2float_##SUFFIX(double a) {                                        \
        using namespace gradverify::simt::unit;                                             \
        return directed(a, 0.0, Rounding::ROUNDING);                                        \
    }                                                                                       \
    inline float __int2float_##SUFFIX(int a) { return __double2float_##SUFFIX(a); }         \
    inline float __uint2float_##SUFFIX(unsigned a) { return __double2float_##SUFFIX(a); }
GRADVERIFY_SIMT_DIRECTED(rz, toward_zero)
GRADVERIFY_SIMT_DIRECTED(ru, up)
GRADVERIFY_SIMT_DIRECTED(rd, down)
#undef GRADVERIFY_SIMT_DIRECTED

inline int __float_as_int(float x) { return gradverify::simt::unit::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return gradverify::simt::unit::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return gradverify::simt::unit::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return gradverify::simt::unit::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) {
    return gradverify::simt::unit::bit_cast<long long>(x);
}
inline double __longlong_as_double(long long x) {
    return gradverify::simt::unit::bit_cast<double>(x);
}
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline double __hiloint2double(int high, int low) {
    return gradverify::simt::unit::bit_cast<double>(std::uint64_t{unsigned(high)} << 32 |
                                                    unsigned(low));
}

/// `NAME_rn`, `NAME_rz` and so on convert a T, whose floating-point value is `VALUE`, to an I.
#define GRADVERIFY_SIMT_TO_INTEGER(NAME, T, I, VALUE)                                            \
    inline I NAME##_rn(T x) {                                                                    \
        return gradverify::simt::unit::saturating<I>(std::nearbyint(VALUE));                     \
    }                                                                                            \
    inline I NAME##_rz(T x) { return gradverify::simt::unit::saturating<I>(std::trunc(VALUE)); } \
    inline I NAME##_ru(T x) { return gradverify::simt::unit::saturating<I>(std::ceil(VALUE)); }  \
    inline I NAME##_rd(T x) { return gradverify::simt::unit::saturating<I>(std::floor(VALUE)); }
#define GRADVERIFY_SIMT_TO_INTEGERS(F)                       \
    GRADVERIFY_SIMT_TO_INTEGER(__##F##2int, F, int, x)       \
    GRADVERIFY_SIMT_TO_INTEGER(__##F##2uint, F, unsigned, x) \
    GRADVERIFY_SIMT_TO_INTEGER(__##F##2ll, F, long long, x)  \
    GRADVERIFY_SIMT_TO_INTEGER(__##F##2ull, F, unsigned long long, x)
GRADVERIFY_SIMT_TO_INTEGERS(float)
GRADVERIFY_SIMT_TO_INTEGERS(double)
#undef GRADVERIFY_SIMT_TO_INTEGERS

#define GRADVERIFY_SIMT_FROM_INTEGER(FROM, I)                               \
    inline float __##FROM##2float_rn(I x) { return static_cast<float>(x); } \
    inline double __##FROM##2double_rn(I x) { return static_cast<double>(x); }
GRADVERIFY_SIMT_FROM_INTEGER(int, int)
GRADVERIFY_SIMT_FROM_INTEGER(uint, unsigned)
GRADVERIFY_SIMT_FROM_INTEGER(ll, long long)
GRADVERIFY_SIMT_FROM_INTEGER(ull, unsigned long long)
#undef GRADVERIFY_SIMT_FROM_INTEGER
inline float __double2float_rn(double x) { return static_cast<float>(x); }

inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) {
    return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
/// The place of the |offset|-th set bit, counted from `base` upwards, or downwards if negative.
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
    if (offset == 0) return base < 32 && (mask >> base & 1u) != 0 ? base : ~0u;
    const int step = offset > 0 ? 1 : -1;
    int left = offset * step;
    for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step)
        if ((mask >> at & 1u) != 0 && --left == 0) return static_cast<unsigned>(at);
    return ~0u;
}
inline unsigned long long __brevll(unsigned long long x) {
    unsigned long long reversed = 0;
    for (int bit = 0; bit < 64; ++bit) reversed |= (x >> bit & 1u) << (63 - bit);
    return reversed;
}
inline unsigned __brev(unsigned x) { return static_cast<unsigned>(__brevll(x) >> 32); }
inline int __mul24(int a, int b) {
    return static_cast<int>(unsigned(a << 8 >> 8) * unsigned(b << 8 >> 8));
}
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
inline int __mulhi(int a, int b) { return static_cast<int>((static_cast<long long>(a) * b) >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline unsigned __sad(int a, int b, unsigned sum) {
    return sum + (a > b ? unsigned(a) - unsigned(b) : unsigned(b) - unsigned(a));
}
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned pick = (selector >> (4 * i)) & 0xfu;
        unsigned byte = static_cast<unsigned>(bytes >> (8 * (pick & 7u))) & 0xffu;
        if (pick & 8u) byte = (byte & 0x80u) ? 0xffu : 0u;
        result |= byte << (8 * i);
    }
    return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((std::uint64_t{high} << 32 | low) << (shift & 31u) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (shift & 31u));
}
inline long long __mul64hi(long long a, long long b) {
    return static_cast<long long>((static_cast<__int128>(a) * b) >> 64);
}
inline unsigned __usad(unsigned a, unsigned b, unsigned sum) {
    return sum + (a > b ? a - b : b - a);
}
/// Averages: rounded down, and up.
inline int __hadd(int a, int b) { return static_cast<int>((0LL + a + b) >> 1); }
inline int __rhadd(int a, int b) { return static_cast<int>((1LL + a + b) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) {
    return static_cast<unsigned>((0ULL + a + b) >> 1);
}
inline unsigned __urhadd(unsigned a, unsigned b) {
    return static_cast<unsigned>((1ULL + a + b) >> 1);
}
/// Four products of bytes, added up.
inline int __dp4a(int a, int b, int sum) {
    auto wrapping = unsigned(sum);
    for (int i = 0; i < 32; i += 8)
        wrapping += unsigned(static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i));
    return static_cast<int>(wrapping);
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
    for (int i = 0; i < 32; i += 8) sum += (a >> i & 0xffu) * (b >> i & 0xffu);
    return sum;
}
inline int __dp4a(char4 a, char4 b, int sum) {
    const int products = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    return static_cast<int>(unsigned(sum) + unsigned(products));
}
inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned sum) {
    return sum + unsigned(a.x * b.x) + unsigned(a.y * b.y) + unsigned(a.z * b.z) +
           unsigned(a.w * b.w);
}

// There is one address space; ptx/shared_window.hpp has the addresses within shared memory.
inline std::size_t __cvta_generic_to_global(const void* p) {
    return reinterpret_cast<std::size_t>(p);
}
