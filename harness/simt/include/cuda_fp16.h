// SPDX-License-Identifier: Apache-2.0
// CUDA's half and half2. As in CUDA, macros leave out operators and implicit conversions.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/forced.hpp"
#include "gradverify_simt/narrow_types.hpp"

#ifdef __CUDA_NO_HALF_CONVERSIONS__
GRADVERIFY_SIMT_NARROW_TYPE(__half, __half2, HalfFormat, explicit)
#else
GRADVERIFY_SIMT_NARROW_TYPE(__half, __half2, HalfFormat, )
#endif
GRADVERIFY_SIMT_NARROW_FUNCTIONS(__half, __half2)
GRADVERIFY_SIMT_NARROW_CONVERSIONS(__half, __half2, half, HalfFormat)
#ifndef __CUDA_NO_HALF_OPERATORS__
GRADVERIFY_SIMT_NARROW_OPERATORS(__half)
#endif
#if !defined(__CUDA_NO_HALF_OPERATORS__) && !defined(__CUDA_NO_HALF2_OPERATORS__)
GRADVERIFY_SIMT_NARROW_PAIR_OPERATORS(__half2)
#endif

inline __half2 make_half2(__half x, __half y) { return __half2(x, y); }
#ifndef CUDA_NO_HALF
using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;
#endif
#define CUDART_INF_FP16 (__ushort_as_half(static_cast<unsigned short>(0x7c00u)))
#define CUDART_NAN_FP16 (__ushort_as_half(static_cast<unsigned short>(0x7fffu)))
#define CUDART_MAX_NORMAL_FP16 (__ushort_as_half(static_cast<unsigned short>(0x7bffu)))
#define CUDART_ONE_FP16 (__ushort_as_half(static_cast<unsigned short>(0x3c00u)))
#define CUDART_ZERO_FP16 (__ushort_as_half(static_cast<unsigned short>(0x0000u)))
