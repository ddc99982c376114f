// SPDX-License-Identifier: Apache-2.0
// Stands for CUDA's math_constants.h: the constants that kernels use.
#pragma once
#pragma GCC system_header

#include <limits>

#define CUDART_INF_F (::std::numeric_limits<float>::infinity())
#define CUDART_NAN_F (::std::numeric_limits<float>::quiet_NaN())
#define CUDART_MAX_NORMAL_F (::std::numeric_limits<float>::max())
#define CUDART_MIN_DENORM_F (::std::numeric_limits<float>::denorm_min())
#define CUDART_PI_F 3.141592654f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_LN2_F 0.693147181f
#define CUDART_L2E_F 1.442695041f
#define CUDART_INF (::std::numeric_limits<double>::infinity())
#define CUDART_NAN (::std::numeric_limits<double>::quiet_NaN())
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_SQRT_TWO 1.4142135623730951e+0
#define CUDART_LN2 6.9314718055994529e-1
#define CUDART_L2E 1.4426950408889634e+0
