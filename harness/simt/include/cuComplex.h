// SPDX-License-Identifier: Apache-2.0
// Stands for CUDA's cuComplex.h. Results are a GPU's, but for its fused multiply-adds.
#pragma once
#pragma GCC system_header

#include <cmath>

#include "gradverify_simt/forced.hpp"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// SUFFIX ends the names of floats' functions. A quotient is scaled, lest |y|^2 overflows.
#define GRADVERIFY_SIMT_COMPLEX(NUMBER, COMPLEX, SUFFIX)                                           \
    inline COMPLEX make_##COMPLEX(NUMBER real, NUMBER imaginary) {                                 \
        COMPLEX z;                                                                                 \
        z.x = real;                                                                                \
        z.y = imaginary;                                                                           \
        return z;                                                                                  \
    }                                                                                              \
    inline NUMBER cuCreal##SUFFIX(COMPLEX z) { return z.x; }                                       \
    inline NUMBER cuCimag##SUFFIX(COMPLEX z) { return z.y; }                                       \
    inline NUMBER cuCabs##SUFFIX(COMPLEX z) { return std::hypot(z.x, z.y); }                       \
    inline COMPLEX cuConj##SUFFIX(COMPLEX z) { return make_##COMPLEX(z.x, -z.y); }                 \
    inline COMPLEX cuCadd##SUFFIX(COMPLEX a, COMPLEX b) {                                          \
        return make_##COMPLEX(a.x + b.x, a.y + b.y);                                               \
    }                                                                                              \
    inline COMPLEX cuCsub##SUFFIX(COMPLEX a, COMPLEX b) {                                          \
        return make_##COMPLEX(a.x - b.x, a.y - b.y);                                               \
    }                                                                                              \
    inline COMPLEX cuCmul##SUFFIX(COMPLEX a, COMPLEX b) {                                          \
        return make_##COMPLEX(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                       \
    }                                                                                              \
    inline COMPLEX cuCdiv##SUFFIX(COMPLEX a, COMPLEX b) {                                          \
        const NUMBER size = std::abs(b.x) + std::abs(b.y);                                         \
        const COMPLEX n = make_##COMPLEX(a.x / size, a.y / size);                                  \
        const COMPLEX d = make_##COMPLEX(b.x / size, b.y / size);                                  \
        const NUMBER square = d.x * d.x + d.y * d.y;                                               \
        return make_##COMPLEX((n.x * d.x + n.y * d.y) / square, (n.y * d.x - n.x * d.y) / square); \
    }                                                                                              \
    inline COMPLEX cuCfma##SUFFIX(COMPLEX a, COMPLEX b, COMPLEX c) {                               \
        return make_##COMPLEX(a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x);           \
    }

GRADVERIFY_SIMT_COMPLEX(float, cuFloatComplex, f)
GRADVERIFY_SIMT_COMPLEX(double, cuDoubleComplex, )
#undef GRADVERIFY_SIMT_COMPLEX

inline cuComplex make_cuComplex(float real, float imaginary) {
    return make_cuFloatComplex(real, imaginary);
}
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) {
    return make_cuDoubleComplex(z.x, z.y);
}
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
    return make_cuFloatComplex(static_cast<float>(z.x), static_cast<float>(z.y));
}
