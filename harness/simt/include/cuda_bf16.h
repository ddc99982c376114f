// SPDX-License-Identifier: Apache-2.0
// CUDA's nv_bfloat16 and its pair. As in CUDA, macros leave out operators and implicit conversions.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/forced.hpp"
#include "gradverify_simt/narrow_types.hpp"

#ifdef __CUDA_NO_BFLOAT16_CONVERSIONS__
GRADVERIFY_SIMT_NARROW_TYPE(__nv_bfloat16, __nv_bfloat162, Bfloat16Format, explicit)
#else
GRADVERIFY_SIMT_NARROW_TYPE(__nv_bfloat16, __nv_bfloat162, Bfloat16Format, )
#endif
GRADVERIFY_SIMT_NARROW_FUNCTIONS(__nv_bfloat16, __nv_bfloat162)
GRADVERIFY_SIMT_NARROW_CONVERSIONS(__nv_bfloat16, __nv_bfloat162, bfloat16, Bfloat16Format)
#ifndef __CUDA_NO_BFLOAT16_OPERATORS__
GRADVERIFY_SIMT_NARROW_OPERATORS(__nv_bfloat16)
#endif
#if !defined(__CUDA_NO_BFLOAT16_OPERATORS__) && !defined(__CUDA_NO_BFLOAT162_OPERATORS__)
GRADVERIFY_SIMT_NARROW_PAIR_OPERATORS(__nv_bfloat162)
#endif

inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
    return __nv_bfloat162(x, y);
}
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
#define CUDART_INF_BF16 (__ushort_as_bfloat16(static_cast<unsigned short>(0x7f80u)))
#define CUDART_NAN_BF16 (__ushort_as_bfloat16(static_cast<unsigned short>(0x7fffu)))
