// SPDX-License-Identifier: Apache-2.0
// CUDA's 4-bit floats, __nv_fp4_e2m1: storage and conversions, alone, in pairs and in fours, the
// first in the lowest bits.
#pragma once
#pragma GCC system_header

#include "cuda_fp8.h"

#define __CUDA_FP4_TYPES_EXIST__

using __nv_fp4_storage_t = __nv_fp8_storage_t;
using __nv_fp4x2_storage_t = __nv_fp8_storage_t;
using __nv_fp4x4_storage_t = __nv_fp8x2_storage_t;
enum __nv_fp4_interpretation_t { __NV_E2M1 };

inline __nv_fp4_storage_t __nv_cvt_double_to_fp4(double x, __nv_fp4_interpretation_t,
                                                 cudaRoundMode rounding) {
    using namespace gradverify::simt::unit;
    return E2m1Format::from_double(
        x, rounding == cudaRoundZero ? Rounding::toward_zero : Rounding::nearest);
}
inline __nv_fp4_storage_t __nv_cvt_float_to_fp4(float x, __nv_fp4_interpretation_t to,
                                                cudaRoundMode rounding) {
    return __nv_cvt_double_to_fp4(static_cast<double>(x), to, rounding);
}
inline __nv_fp4_storage_t __nv_cvt_halfraw_to_fp4(__half_raw x, __nv_fp4_interpretation_t to,
                                                  cudaRoundMode rounding) {
    return __nv_cvt_float_to_fp4(__half(x).gradverify_float(), to, rounding);
}
inline __nv_fp4_storage_t __nv_cvt_bfloat16raw_to_fp4(__nv_bfloat16_raw x,
                                                      __nv_fp4_interpretation_t to,
                                                      cudaRoundMode rounding) {
    return __nv_cvt_float_to_fp4(__nv_bfloat16(x).gradverify_float(), to, rounding);
}

#define GRADVERIFY_SIMT_FP4_PAIR(NAME, PAIR, ONE, FIRST, SECOND)                  \
    inline __nv_fp4x2_storage_t NAME(PAIR x, __nv_fp4_interpretation_t to,        \
                                     cudaRoundMode rounding) {                    \
        return static_cast<__nv_fp4x2_storage_t>(ONE(FIRST, to, rounding) |       \
                                                 ONE(SECOND, to, rounding) << 4); \
    }
GRADVERIFY_SIMT_FP4_PAIR(__nv_cvt_double2_to_fp4x2, double2, __nv_cvt_double_to_fp4, x.x, x.y)
GRADVERIFY_SIMT_FP4_PAIR(__nv_cvt_float2_to_fp4x2, float2, __nv_cvt_float_to_fp4, x.x, x.y)
GRADVERIFY_SIMT_FP4_PAIR(__nv_cvt_halfraw2_to_fp4x2, __half2_raw, __nv_cvt_halfraw_to_fp4,
                         __half_raw{x.x}, __half_raw{x.y})
GRADVERIFY_SIMT_FP4_PAIR(__nv_cvt_bfloat16raw2_to_fp4x2, __nv_bfloat162_raw,
                         __nv_cvt_bfloat16raw_to_fp4, __nv_bfloat16_raw{x.x},
                         __nv_bfloat16_raw{x.y})
#undef GRADVERIFY_SIMT_FP4_PAIR

inline __half_raw __nv_cvt_fp4_to_halfraw(__nv_fp4_storage_t x, __nv_fp4_interpretation_t) {
    return __half::gradverify_of(gradverify::simt::unit::E2m1Format::to_float(x));
}
inline __half2_raw __nv_cvt_fp4x2_to_halfraw2(__nv_fp4x2_storage_t x,
                                              __nv_fp4_interpretation_t from) {
    return {__nv_cvt_fp4_to_halfraw(x, from).x,
            __nv_cvt_fp4_to_halfraw(static_cast<__nv_fp4_storage_t>(x >> 4), from).x};
}

struct __nv_fp4_e2m1 {
    __nv_fp4_storage_t __x;
    __nv_fp4_e2m1() = default;
    explicit __nv_fp4_e2m1(__half value) : __nv_fp4_e2m1(value.gradverify_float()) {}
    explicit __nv_fp4_e2m1(__nv_bfloat16 value) : __nv_fp4_e2m1(value.gradverify_float()) {}
    explicit __nv_fp4_e2m1(float value)
        : __x(__nv_cvt_float_to_fp4(value, __NV_E2M1, cudaRoundNearest)) {}
    explicit __nv_fp4_e2m1(double value)
        : __x(__nv_cvt_double_to_fp4(value, __NV_E2M1, cudaRoundNearest)) {}
    template <class I>
    requires(std::is_integral_v<I>)
    explicit __nv_fp4_e2m1(I value) : __nv_fp4_e2m1(static_cast<double>(value)) {}
    explicit operator float() const { return gradverify::simt::unit::E2m1Format::to_float(__x); }
    explicit operator double() const { return static_cast<float>(*this); }
    explicit operator __half() const { return __nv_cvt_fp4_to_halfraw(__x, __NV_E2M1); }
    explicit operator __nv_bfloat16() const {
        return __nv_bfloat16::gradverify_of(static_cast<float>(*this));
    }
    explicit operator bool() const { return (__x & 7u) != 0; }
};

struct __nv_fp4x2_e2m1 {
    __nv_fp4x2_storage_t __x;
    __nv_fp4x2_e2m1() = default;
    explicit __nv_fp4x2_e2m1(__half2 value)
        : __x(__nv_cvt_halfraw2_to_fp4x2(value, __NV_E2M1, cudaRoundNearest)) {}
    explicit __nv_fp4x2_e2m1(__nv_bfloat162 value)
        : __x(__nv_cvt_bfloat16raw2_to_fp4x2(value, __NV_E2M1, cudaRoundNearest)) {}
    explicit __nv_fp4x2_e2m1(float2 value)
        : __x(__nv_cvt_float2_to_fp4x2(value, __NV_E2M1, cudaRoundNearest)) {}
    explicit __nv_fp4x2_e2m1(double2 value)
        : __x(__nv_cvt_double2_to_fp4x2(value, __NV_E2M1, cudaRoundNearest)) {}
    explicit operator __half2() const { return __nv_cvt_fp4x2_to_halfraw2(__x, __NV_E2M1); }
    explicit operator float2() const {
        using gradverify::simt::unit::E2m1Format;
        return {E2m1Format::to_float(__x),
                E2m1Format::to_float(static_cast<unsigned char>(__x >> 4))};
    }
};

struct __nv_fp4x4_e2m1 {
    __nv_fp4x4_storage_t __x;
    __nv_fp4x4_e2m1() = default;
    explicit __nv_fp4x4_e2m1(float4 value)
        : __x(static_cast<__nv_fp4x4_storage_t>(__nv_fp4x2_e2m1(float2{value.x, value.y}).__x |
                                                __nv_fp4x2_e2m1(float2{value.z, value.w}).__x
                                                    << 8)) {}
    explicit operator float4() const {
        __nv_fp4x2_e2m1 low, high;
        low.__x = static_cast<__nv_fp4x2_storage_t>(__x);
        high.__x = static_cast<__nv_fp4x2_storage_t>(__x >> 8);
        const auto x = static_cast<float2>(low), y = static_cast<float2>(high);
        return {x.x, x.y, y.x, y.y};
    }
};
