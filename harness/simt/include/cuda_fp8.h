// SPDX-License-Identifier: Apache-2.0
// CUDA's 8-bit floats, __nv_fp8_e4m3 and __nv_fp8_e5m2: storage and conversions, alone, in pairs
// and in fours. There is no arithmetic in them, and the type of scales, e8m0, is left out. As in
// CUDA, __CUDA_NO_FP8_CONVERSIONS__ and __CUDA_NO_FP8_CONVERSION_OPERATORS__ leave conversions out.
#pragma once
#pragma GCC system_header

#include <cmath>
#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "gradverify_simt/eight_bit_float.hpp"
#include "gradverify_simt/forced.hpp"

#define __CUDA_FP8_TYPES_EXIST__

using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned int;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                 __nv_fp8_interpretation_t to) {
    using namespace gradverify::simt::unit;
    const bool saturates = saturate == __NV_SATFINITE;
    return to == __NV_E4M3 ? E4m3Format::from_double(x, saturates)
                           : E5m2Format::from_double(x, saturates);
}
inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                __nv_fp8_interpretation_t to) {
    using namespace gradverify::simt::unit;
    const bool saturates = saturate == __NV_SATFINITE;
    return to == __NV_E4M3 ? E4m3Format::from_float(x, saturates)
                           : E5m2Format::from_float(x, saturates);
}
inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                  __nv_fp8_interpretation_t to) {
    return __nv_cvt_float_to_fp8(__half(x).gradverify_float(), saturate, to);
}
inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x,
                                                      __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t to) {
    return __nv_cvt_float_to_fp8(__nv_bfloat16(x).gradverify_float(), saturate, to);
}

namespace gradverify::simt::unit {
/// The first in the low byte.
inline unsigned short fp8_pair(unsigned char x, unsigned char y) {
    return static_cast<unsigned short>(x | y << 8);
}
inline unsigned fp8_four(unsigned short low, unsigned short high) {
    return static_cast<unsigned>(low) | static_cast<unsigned>(high) << 16;
}
}  // namespace gradverify::simt::unit

#define GRADVERIFY_SIMT_FP8_PAIR(NAME, PAIR, ONE, FIRST, SECOND)            \
    inline __nv_fp8x2_storage_t NAME(PAIR x, __nv_saturation_t saturate,    \
                                     __nv_fp8_interpretation_t to) {        \
        return gradverify::simt::unit::fp8_pair(ONE(FIRST, saturate, to),   \
                                                ONE(SECOND, saturate, to)); \
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

#ifdef __CUDA_NO_FP8_CONVERSIONS__
#define GRADVERIFY_SIMT_FP8_FROM(...)
#define GRADVERIFY_SIMT_FP8_TO(...)
#else
#define GRADVERIFY_SIMT_FP8_FROM(...) __VA_ARGS__
#ifdef __CUDA_NO_FP8_CONVERSION_OPERATORS__
#define GRADVERIFY_SIMT_FP8_TO(...)
#else
#define GRADVERIFY_SIMT_FP8_TO(...) __VA_ARGS__
#endif
#endif

/// KIND is __NV_E4M3 or __NV_E5M2. Whatever a type is constructed from saturates; to integers all
/// of them round toward zero and saturate, and NaN is 0, as a GPU's conversions have it.
#define GRADVERIFY_SIMT_FP8_TYPES(ONE, PAIR, FOUR, KIND, FORMAT)                                                                                                                                                                                                                                                                           \
    struct alignas(1) ONE {                                                                                                                                                                                                                                                                                                                \
        __nv_fp8_storage_t __x;                                                                                                                                                                                                                                                                                                            \
        ONE() = default;                                                                                                                                                                                                                                                                                                                   \
        GRADVERIFY_SIMT_FP8_FROM(                                                                                                                                                                                                                                                                                                          \
            explicit ONE(__half value) : __x(__nv_cvt_halfraw_to_fp8(value, __NV_SATFINITE, KIND)) {} explicit ONE(__nv_bfloat16 value) : __x(                                                                                                                                                                                             \
                __nv_cvt_bfloat16raw_to_fp8(                                                                                                                                                                                                                                                                                               \
                    value, __NV_SATFINITE,                                                                                                                                                                                                                                                                                                 \
                    KIND)) {} explicit ONE(float                                                                                                                                                                                                                                                                                           \
                                               value) : __x(__nv_cvt_float_to_fp8(value,                                                                                                                                                                                                                                                   \
                                                                                  __NV_SATFINITE,                                                                                                                                                                                                                                          \
                                                                                  KIND)) {} explicit ONE(double                                                                                                                                                                                                                            \
                                                                                                             value) : __x(__nv_cvt_double_to_fp8(value,                                                                                                                                                                                    \
                                                                                                                                                 __NV_SATFINITE,                                                                                                                                                                           \
                                                                                                                                                 KIND)) {} template <class                                                                                                                                                                 \
                                                                                                                                                                     I>                                                                                                                                                                    \
            requires(std::is_integral_v<I>) explicit ONE(I value) : ONE(                                                                                                                                                                                                                                                                   \
                static_cast<float>(value)){})                                                                                                                                                                                                                                                                                              \
        GRADVERIFY_SIMT_FP8_TO(                                                                                                                                                                                                                                                                                                            \
            explicit operator __half() const {                                                                                                                                                                                                                                                                                             \
                return __nv_cvt_fp8_to_halfraw(__x, KIND);                                                                                                                                                                                                                                                                                 \
            } explicit operator float() const {                                                                                                                                                                                                                                                                                            \
                return ::gradverify::simt::unit::FORMAT::to_float(__x);                                                                                                                                                                                                                                                                    \
            } explicit operator __nv_bfloat16() const {                                                                                                                                                                                                                                                                                    \
                return __nv_bfloat16::gradverify_of(static_cast<float>(*this));                                                                                                                                                                                                                                                            \
            } explicit operator double() const {                                                                                                                                                                                                                                                                                           \
                return static_cast<float>(*this);                                                                                                                                                                                                                                                                                          \
            } explicit operator bool() const { return (__x & 0x7fu) != 0; } template <class I>                                                                                                                                                                                                                                             \
            requires(std::is_integral_v<I>) explicit operator I() const {                                                                                                                                                                                                                                                                  \
                return ::gradverify::simt::unit::saturating<I>(                                                                                                                                                                                                                                                                            \
                    std::trunc(static_cast<float>(*this)));                                                                                                                                                                                                                                                                                \
            })                                                                                                                                                                                                                                                                                                                             \
    };                                                                                                                                                                                                                                                                                                                                     \
    struct alignas(2) PAIR {                                                                                                                                                                                                                                                                                                               \
        __nv_fp8x2_storage_t __x;                                                                                                                                                                                                                                                                                                          \
        PAIR() = default;                                                                                                                                                                                                                                                                                                                  \
        GRADVERIFY_SIMT_FP8_FROM(                                                                                                                                                                                                                                                                                                          \
            explicit PAIR(__half2 value) : __x(__nv_cvt_halfraw2_to_fp8x2(value, __NV_SATFINITE, KIND)) {} explicit PAIR(__nv_bfloat162 value) : __x(                                                                                                                                                                                      \
                __nv_cvt_bfloat16raw2_to_fp8x2(                                                                                                                                                                                                                                                                                            \
                    value, __NV_SATFINITE,                                                                                                                                                                                                                                                                                                 \
                    KIND)) {} explicit PAIR(float2                                                                                                                                                                                                                                                                                         \
                                                value) : __x(__nv_cvt_float2_to_fp8x2(value,                                                                                                                                                                                                                                               \
                                                                                      __NV_SATFINITE,                                                                                                                                                                                                                                      \
                                                                                      KIND)) {} explicit PAIR(double2                                                                                                                                                                                                                      \
                                                                                                                  value) : __x(__nv_cvt_double2_to_fp8x2(value,                                                                                                                                                                            \
                                                                                                                                                         __NV_SATFINITE,                                                                                                                                                                   \
                                                                                                                                                         KIND)){})                                                                                                                                                                         \
        GRADVERIFY_SIMT_FP8_TO(                                                                                                                                                                                                                                                                                                            \
            explicit operator __half2() const {                                                                                                                                                                                                                                                                                            \
                return __nv_cvt_fp8x2_to_halfraw2(__x, KIND);                                                                                                                                                                                                                                                                              \
            } explicit operator float2() const {                                                                                                                                                                                                                                                                                           \
                using Format = ::gradverify::simt::unit::FORMAT;                                                                                                                                                                                                                                                                           \
                return {Format::to_float(static_cast<unsigned char>(__x)),                                                                                                                                                                                                                                                                 \
                        Format::to_float(static_cast<unsigned char>(__x >> 8))};                                                                                                                                                                                                                                                           \
            })                                                                                                                                                                                                                                                                                                                             \
    };                                                                                                                                                                                                                                                                                                                                     \
    struct alignas(4) FOUR {                                                                                                                                                                                                                                                                                                               \
        __nv_fp8x4_storage_t __x;                                                                                                                                                                                                                                                                                                          \
        FOUR() = default;                                                                                                                                                                                                                                                                                                                  \
        GRADVERIFY_SIMT_FP8_FROM(                                                                                                                                                                                                                                                                                                          \
            explicit FOUR(                                                                                                                                                                                                                                                                                                                 \
                __half2 low,                                                                                                                                                                                                                                                                                                               \
                __half2 high) : __x(::gradverify::simt::unit::                                                                                                                                                                                                                                                                             \
                                        fp8_four(PAIR(low).__x,                                                                                                                                                                                                                                                                            \
                                                 PAIR(high)                                                                                                                                                                                                                                                                                \
                                                     .__x)) {} explicit FOUR(__nv_bfloat162 low, __nv_bfloat162 high) : __x(::                                                                                                                                                                                                             \
                                                                                                                                gradverify::simt::unit::fp8_four(PAIR(                                                                                                                                                                     \
                                                                                                                                                                     low)                                                                                                                                                                  \
                                                                                                                                                                     .__x,                                                                                                                                                                 \
                                                                                                                                                                 PAIR(                                                                                                                                                                     \
                                                                                                                                                                     high)                                                                                                                                                                 \
                                                                                                                                                                     .__x)) {} explicit FOUR(float4 value) : __x(::gradverify::simt::unit::fp8_four(PAIR(make_float2(value                                                                 \
                                                                                                                                                                                                                                                                         .x,                                                               \
                                                                                                                                                                                                                                                                     value                                                                 \
                                                                                                                                                                                                                                                                         .y))                                                              \
                                                                                                                                                                                                                                                        .__x,                                                                              \
                                                                                                                                                                                                                                                    PAIR(make_float2(value                                                                 \
                                                                                                                                                                                                                                                                         .z,                                                               \
                                                                                                                                                                                                                                                                     value                                                                 \
                                                                                                                                                                                                                                                                         .w))                                                              \
                                                                                                                                                                                                                                                        .__x)) {} explicit FOUR(double4 value) : __x(::                                    \
                                                                                                                                                                                                                                                                                                         gradverify::simt::unit::fp8_four( \
                                                                                                                                                                                                                                                                                                             PAIR(                         \
                                                                                                                                                                                                                                                                                                                 make_double2(             \
                                                                                                                                                                                                                                                                                                                     value                 \
                                                                                                                                                                                                                                                                                                                         .x,               \
                                                                                                                                                                                                                                                                                                                     value                 \
                                                                                                                                                                                                                                                                                                                         .y))              \
                                                                                                                                                                                                                                                                                                                 .__x,                     \
                                                                                                                                                                                                                                                                                                             PAIR(                         \
                                                                                                                                                                                                                                                                                                                 make_double2(             \
                                                                                                                                                                                                                                                                                                                     value                 \
                                                                                                                                                                                                                                                                                                                         .z,               \
                                                                                                                                                                                                                                                                                                                     value                 \
                                                                                                                                                                                                                                                                                                                         .w))              \
                                                                                                                                                                                                                                                                                                                 .__x)){})                 \
        GRADVERIFY_SIMT_FP8_TO(explicit operator float4() const {                                                                                                                                                                                                                                                                          \
            using Format = ::gradverify::simt::unit::FORMAT;                                                                                                                                                                                                                                                                               \
            return {Format::to_float(static_cast<unsigned char>(__x)),                                                                                                                                                                                                                                                                     \
                    Format::to_float(static_cast<unsigned char>(__x >> 8)),                                                                                                                                                                                                                                                                \
                    Format::to_float(static_cast<unsigned char>(__x >> 16)),                                                                                                                                                                                                                                                               \
                    Format::to_float(static_cast<unsigned char>(__x >> 24))};                                                                                                                                                                                                                                                              \
        })                                                                                                                                                                                                                                                                                                                                 \
    };

GRADVERIFY_SIMT_FP8_TYPES(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3, E4m3Format)
GRADVERIFY_SIMT_FP8_TYPES(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2, E5m2Format)
#undef GRADVERIFY_SIMT_FP8_TYPES
#undef GRADVERIFY_SIMT_FP8_FROM
#undef GRADVERIFY_SIMT_FP8_TO
