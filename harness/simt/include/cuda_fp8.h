// SPDX-License-Identifier: Apache-2.0
// CUDA's 8-bit floats, __nv_fp8_e4m3 and __nv_fp8_e5m2: storage and conversions, alone, in pairs
// and in fours; and __nv_fp8_e8m0, alone.
#pragma once
#pragma GCC system_header

#include <cmath>
#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "gradverify_simt/block_float.hpp"
#include "gradverify_simt/forced.hpp"
#include "gradverify_simt/narrow_float.hpp"

#define __CUDA_FP8_TYPES_EXIST__

using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned int;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

// The conversion of a NUMBER is the format's from_NUMBER.
#define GRADVERIFY_SIMT_TO_FP8(NUMBER)                                                         \
    inline __nv_fp8_storage_t __nv_cvt_##NUMBER##_to_fp8(NUMBER x, __nv_saturation_t saturate, \
                                                         __nv_fp8_interpretation_t to) {       \
        using namespace gradverify::simt::unit;                                                \
        const bool saturates = saturate == __NV_SATFINITE;                                     \
        return to == __NV_E4M3 ? E4m3Format::from_##NUMBER(x, saturates)                       \
                               : E5m2Format::from_##NUMBER(x, saturates);                      \
    }
GRADVERIFY_SIMT_TO_FP8(float)
GRADVERIFY_SIMT_TO_FP8(double)
#undef GRADVERIFY_SIMT_TO_FP8
inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                  __nv_fp8_interpretation_t to) {
    return __nv_cvt_float_to_fp8(__half(x).gradverify_float(), saturate, to);
}
inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x,
                                                      __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t to) {
    return __nv_cvt_float_to_fp8(__nv_bfloat16(x).gradverify_float(), saturate, to);
}

// The first is in the low byte.
#define GRADVERIFY_SIMT_FP8_PAIR(NAME, PAIR, ONE, FIRST, SECOND)                  \
    inline __nv_fp8x2_storage_t NAME(PAIR x, __nv_saturation_t saturate,          \
                                     __nv_fp8_interpretation_t to) {              \
        return static_cast<__nv_fp8x2_storage_t>(ONE(FIRST, saturate, to) |       \
                                                 ONE(SECOND, saturate, to) << 8); \
    }
GRADVERIFY_SIMT_FP8_PAIR(__nv_cvt_double2_to_fp8x2, double2, __nv_cvt_double_to_fp8, x.x, x.y)
GRADVERIFY_SIMT_FP8_PAIR(__nv_cvt_float2_to_fp8x2, float2, __nv_cvt_float_to_fp8, x.x, x.y)
GRADVERIFY_SIMT_FP8_PAIR(__nv_cvt_halfraw2_to_fp8x2, __half2_raw, __nv_cvt_halfraw_to_fp8,
                         __half_raw{x.x}, __half_raw{x.y})
GRADVERIFY_SIMT_FP8_PAIR(__nv_cvt_bfloat16raw2_to_fp8x2, __nv_bfloat162_raw,
                         __nv_cvt_bfloat16raw_to_fp8, __nv_bfloat16_raw{x.x},
                         __nv_bfloat16_raw{x.y})
#undef GRADVERIFY_SIMT_FP8_PAIR

inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t from) {
    using namespace gradverify::simt::unit;
    return __half::gradverify_of(from == __NV_E4M3 ? E4m3Format::to_float(x)
                                                   : E5m2Format::to_float(x));
}
inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                              __nv_fp8_interpretation_t from) {
    return {__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x), from).x,
            __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x >> 8), from).x};
}

namespace gradverify::simt::unit {

// Constructors saturate. So do conversions to integers, which round toward zero; NaN gives 0.
#define GRADVERIFY_SIMT_FP8_FROM(TYPE, FROM, CONVERT) \
    explicit TYPE(FROM value) : __x(CONVERT(value, __NV_SATFINITE, kind)) {}

template <__nv_fp8_interpretation_t kind>
struct Fp8 {
    using Format = std::conditional_t<kind == __NV_E4M3, E4m3Format, E5m2Format>;
    __nv_fp8_storage_t __x;
    Fp8() = default;
    GRADVERIFY_SIMT_FP8_FROM(Fp8, __half, __nv_cvt_halfraw_to_fp8)
    GRADVERIFY_SIMT_FP8_FROM(Fp8, __nv_bfloat16, __nv_cvt_bfloat16raw_to_fp8)
    GRADVERIFY_SIMT_FP8_FROM(Fp8, float, __nv_cvt_float_to_fp8)
    GRADVERIFY_SIMT_FP8_FROM(Fp8, double, __nv_cvt_double_to_fp8)
    template <class I>
    requires(std::is_integral_v<I>)
    explicit Fp8(I value) : Fp8(static_cast<float>(value)) {}
    explicit operator float() const { return Format::to_float(__x); }
    explicit operator double() const { return Format::to_float(__x); }
    explicit operator __half() const { return __nv_cvt_fp8_to_halfraw(__x, kind); }
    explicit operator __nv_bfloat16() const {
        return __nv_bfloat16::gradverify_of(Format::to_float(__x));
    }
    explicit operator bool() const { return (__x & 0x7fu) != 0; }
    template <class I>
    requires(std::is_integral_v<I>)
    explicit operator I() const {
        return saturating<I>(std::trunc(Format::to_float(__x)));
    }
};

template <__nv_fp8_interpretation_t kind>
struct Fp8Pair {
    __nv_fp8x2_storage_t __x;
    Fp8Pair() = default;
    GRADVERIFY_SIMT_FP8_FROM(Fp8Pair, __half2, __nv_cvt_halfraw2_to_fp8x2)
    GRADVERIFY_SIMT_FP8_FROM(Fp8Pair, __nv_bfloat162, __nv_cvt_bfloat16raw2_to_fp8x2)
    GRADVERIFY_SIMT_FP8_FROM(Fp8Pair, float2, __nv_cvt_float2_to_fp8x2)
    GRADVERIFY_SIMT_FP8_FROM(Fp8Pair, double2, __nv_cvt_double2_to_fp8x2)
    explicit operator __half2() const { return __nv_cvt_fp8x2_to_halfraw2(__x, kind); }
    explicit operator float2() const {
        using Format = typename Fp8<kind>::Format;
        return {Format::to_float(static_cast<unsigned char>(__x)),
                Format::to_float(static_cast<unsigned char>(__x >> 8))};
    }
};

template <__nv_fp8_interpretation_t kind>
struct Fp8Four {
    __nv_fp8x4_storage_t __x;
    Fp8Four() = default;
    explicit Fp8Four(__half2 low, __half2 high) : Fp8Four(Pair(low), Pair(high)) {}
    explicit Fp8Four(__nv_bfloat162 low, __nv_bfloat162 high) : Fp8Four(Pair(low), Pair(high)) {}
    explicit Fp8Four(float4 value)
        : Fp8Four(Pair(float2{value.x, value.y}), Pair(float2{value.z, value.w})) {}
    explicit Fp8Four(double4 value)
        : Fp8Four(Pair(double2{value.x, value.y}), Pair(double2{value.z, value.w})) {}
    explicit operator float4() const {
        Pair low, high;
        low.__x = static_cast<__nv_fp8x2_storage_t>(__x);
        high.__x = static_cast<__nv_fp8x2_storage_t>(__x >> 16);
        const auto x = static_cast<float2>(low), y = static_cast<float2>(high);
        return {x.x, x.y, y.x, y.y};
    }

  private:
    using Pair = Fp8Pair<kind>;
    Fp8Four(Pair low, Pair high)
        : __x(low.__x | static_cast<__nv_fp8x4_storage_t>(high.__x) << 16) {}
};
#undef GRADVERIFY_SIMT_FP8_FROM

}  // namespace gradverify::simt::unit

#define GRADVERIFY_SIMT_FP8_TYPE(NAME, BASE, KIND)       \
    struct NAME : ::gradverify::simt::unit::BASE<KIND> { \
        using BASE::BASE;                                \
    };
GRADVERIFY_SIMT_FP8_TYPE(__nv_fp8_e4m3, Fp8, __NV_E4M3)
GRADVERIFY_SIMT_FP8_TYPE(__nv_fp8_e5m2, Fp8, __NV_E5M2)
GRADVERIFY_SIMT_FP8_TYPE(__nv_fp8x2_e4m3, Fp8Pair, __NV_E4M3)
GRADVERIFY_SIMT_FP8_TYPE(__nv_fp8x2_e5m2, Fp8Pair, __NV_E5M2)
GRADVERIFY_SIMT_FP8_TYPE(__nv_fp8x4_e4m3, Fp8Four, __NV_E4M3)
GRADVERIFY_SIMT_FP8_TYPE(__nv_fp8x4_e5m2, Fp8Four, __NV_E5M2)
#undef GRADVERIFY_SIMT_FP8_TYPE

// Of the magnitude, rounded up or toward zero.
#define GRADVERIFY_SIMT_TO_E8M0(NUMBER)                                                           \
    inline __nv_fp8_storage_t __nv_cvt_##NUMBER##_to_e8m0(NUMBER x, __nv_saturation_t saturate,   \
                                                          cudaRoundMode rounding) {               \
        return ::gradverify::simt::unit::E8m0Format::from_##NUMBER(x, saturate == __NV_SATFINITE, \
                                                                   rounding == cudaRoundPosInf);  \
    }
GRADVERIFY_SIMT_TO_E8M0(float)
GRADVERIFY_SIMT_TO_E8M0(double)
#undef GRADVERIFY_SIMT_TO_E8M0
inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw x,
                                                       __nv_saturation_t saturate,
                                                       cudaRoundMode rounding) {
    return __nv_cvt_float_to_e8m0(__nv_bfloat16(x).gradverify_float(), saturate, rounding);
}
inline __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x) {
    return __nv_bfloat16::gradverify_of(::gradverify::simt::unit::E8m0Format::to_float(x));
}

// Constructors saturate, and round up.
struct __nv_fp8_e8m0 {
    __nv_fp8_storage_t __x;
    __nv_fp8_e8m0() = default;
    explicit __nv_fp8_e8m0(__half value) : __nv_fp8_e8m0(value.gradverify_float()) {}
    explicit __nv_fp8_e8m0(__nv_bfloat16 value) : __nv_fp8_e8m0(value.gradverify_float()) {}
    explicit __nv_fp8_e8m0(float value)
        : __x(__nv_cvt_float_to_e8m0(value, __NV_SATFINITE, cudaRoundPosInf)) {}
    explicit __nv_fp8_e8m0(double value)
        : __x(__nv_cvt_double_to_e8m0(value, __NV_SATFINITE, cudaRoundPosInf)) {}
    template <class I>
    requires(std::is_integral_v<I>)
    explicit __nv_fp8_e8m0(I value) : __nv_fp8_e8m0(static_cast<double>(value)) {}
    explicit operator float() const { return ::gradverify::simt::unit::E8m0Format::to_float(__x); }
    explicit operator double() const { return static_cast<float>(*this); }
    explicit operator __nv_bfloat16() const { return __nv_cvt_e8m0_to_bf16raw(__x); }
};
