// SPDX-License-Identifier: Apache-2.0
// Products of factors that have a scale for each block, and quantisers: right ones, and some that
// are wrong in scales, formats and rounding.
#include <cuda_fp8.h>

#include "properties/tests/launches.cuh"
#include "reference/fc.hpp"

namespace {

using namespace gradverify;
using Byte = unsigned char;

// ---- products

struct Products : fc::Forward {
    using fc::Forward::Forward;
    TensorView x_scales = tensor("x_scales"), w_scales = tensor("w_scales");
};

enum class Mistake {
    none,
    more_scales,       ///< that of the next block, also behind the last
    neighbours_scale,  ///< that of the next block
    unpadded_blocks,   ///< rows have as many scales as full blocks
    bias_of_126,       ///< of the scale's exponent
    zero_scale,        ///< the least scale is taken for 0, as a float of these bits is
    other_format,      ///< E5M2 is read as E4M3
    swapped_halves,    ///< of a byte with two elements
    bytes_unpadded,    ///< rows begin in the middle of a byte
    scale_of_x_alone,  ///< the other factor's is forgotten
};

template <Mistake mistake>
__device__ float scale_of(const Byte* scales, long long row, long long block, long long width) {
    const long long blocks =
        mistake == Mistake::unpadded_blocks && width > 32 ? width / 32 : (width + 31) / 32;
    long long at = row * blocks + block;
    if (mistake == Mistake::more_scales) ++at;
    if (mistake == Mistake::neighbours_scale && block + 1 < blocks) ++at;
    if (mistake == Mistake::unpadded_blocks && block == blocks) --at;
    const Byte bits = scales[at];
    const int exponent = bits - (mistake == Mistake::bias_of_126 ? 126 : 127);
    return mistake == Mistake::zero_scale && bits == 0 ? 0.0f : exp2f(static_cast<float>(exponent));
}

template <Mistake mistake>
__device__ float eight_bits(Byte bits) {
    if (mistake == Mistake::other_format) {
        __nv_fp8_e4m3 number;
        number.__x = bits;
        return static_cast<float>(number);
    }
    __nv_fp8_e5m2 number;
    number.__x = bits;
    return static_cast<float>(number);
}

template <Mistake mistake>
__device__ float four_bits(const Byte* bytes, long long row, long long i, long long width) {
    const bool is_packed_on = mistake == Mistake::bytes_unpadded;
    const long long at = is_packed_on ? row * width + i : row * ((width + 1) / 2) * 2 + i;
    const bool is_low = (at % 2 == 0) != (mistake == Mistake::swapped_halves);
    const int bits = is_low ? bytes[at / 2] : bytes[at / 2] >> 4;
    constexpr float sizes[] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
    const float size = sizes[bits & 7];
    return (bits & 8) != 0 ? -size : size;
}

template <Mistake mistake, bool has_four_bits>
__device__ float number_at(const Byte* elements, const Byte* scales, long long row, long long i,
                           long long width) {
    const float element = has_four_bits ? four_bits<mistake>(elements, row, i, width)
                                        : eight_bits<mistake>(elements[row * width + i]);
    return element * scale_of<mistake>(scales, row, i / 32, width);
}

template <Mistake mistake, bool has_four_bits>
__global__ void multiply(const Byte* x, const Byte* x_scales, const Byte* w, const Byte* w_scales,
                         const float* b, float* y, long long n, long long k, long long width) {
    const long long at = thread_in_grid();
    if (at >= n * k) return;
    float sum = b[at % k];
    for (long long i = 0; i < width; ++i) {
        const long long row = at % k;
        const float weight = mistake == Mistake::scale_of_x_alone
                                 ? (has_four_bits ? four_bits<mistake>(w, row, i, width)
                                                  : eight_bits<mistake>(w[row * width + i]))
                                 : number_at<mistake, has_four_bits>(w, w_scales, row, i, width);
        sum += number_at<mistake, has_four_bits>(x, x_scales, at / k, i, width) * weight;
    }
    y[at] = sum;
}

template <Mistake mistake, bool has_four_bits>
void launch_products(const Products& call) {
    const auto bytes = [](const TensorView& tensor) {
        return static_cast<const Byte*>(tensor.data);
    };
    multiply<mistake, has_four_bits><<<blocks_of(call.n * call.k, 64), 64, 0, call.launch.stream>>>(
        bytes(call.x), bytes(call.x_scales), bytes(call.w), bytes(call.w_scales),
        call.b.as<const float>(), call.y.as<float>(), call.n, call.k, call.c);
}

void declare_eight(KernelDeclaration& kernel) {
    kernel.block_scaled("x", mxfp8_e5m2).block_scaled("w", mxfp8_e5m2);
}
void declare_four(KernelDeclaration& kernel) {
    kernel.block_scaled("x", mxfp4).block_scaled("w", mxfp4);
}

// ---- the quantiser

struct Quantiser : Pass<"quantize_mxfp8", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), q = tensor("q"), scale = tensor("scale");
    std::int64_t width = size("width");
};

struct Right {
    __device__ static float size(float x) { return fabsf(x); }
    __device__ static int exponent(float amax) {
        return amax == 0.0f ? -127 : max(ilogbf(amax) - 8, -127);
    }
    __device__ static __nv_fp8_storage_t element(float x) {
        return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
    }
};
struct WithoutSigns : Right {
    __device__ static float size(float x) { return x; }
};
// To the nearest power of two.
struct RoundsScale : Right {
    __device__ static int exponent(float amax) {
        return amax == 0.0f ? -127 : max(static_cast<int>(rintf(log2f(amax))) - 8, -127);
    }
};
// log2f of a number just below a power of two is a whole number.
struct ByLogarithm : Right {
    __device__ static int exponent(float amax) {
        return amax == 0.0f ? -127 : max(static_cast<int>(floorf(log2f(amax))) - 8, -127);
    }
};
// Less than 2^-127 wraps around.
struct WithoutClamp : Right {
    __device__ static int exponent(float amax) { return amax == 0.0f ? -127 : ilogbf(amax) - 8; }
};
struct ExponentOf256 : Right {
    __device__ static int exponent(float amax) {
        return amax == 0.0f ? -127 : max(ilogbf(amax) - 7, -127);
    }
};
struct GivesNan : Right {
    __device__ static __nv_fp8_storage_t element(float x) {
        return __nv_cvt_float_to_fp8(x, __NV_NOSAT, __NV_E4M3);
    }
};
struct HalfAwayFromZero : Right {
    __device__ static __nv_fp8_storage_t element(float x) {
        // A little more than half.
        return __nv_cvt_float_to_fp8(x * (1.0f + 0x1p-20f), __NV_SATFINITE, __NV_E4M3);
    }
};
struct Truncates : Right {
    __device__ static __nv_fp8_storage_t element(float x) {
        const __nv_fp8_storage_t bits = Right::element(x);
        __nv_fp8_e4m3 number;
        number.__x = bits;
        return fabsf(static_cast<float>(number)) > fabsf(x)
                   ? static_cast<__nv_fp8_storage_t>(bits - 1)
                   : bits;
    }
};

template <class Policy>
__device__ void quantise(long long at, const float* x, Byte* q, Byte* scale, long long width) {
    const long long across = (width + 31) / 32, row = at / across, first = at % across * 32;
    const long long end = first + 32 < width ? first + 32 : width;
    float amax = 0.0f;
    for (long long i = first; i < end; ++i) amax = fmaxf(amax, Policy::size(x[row * width + i]));
    const int exponent = Policy::exponent(amax);
    scale[at] = static_cast<Byte>(exponent + 127);
    for (long long i = first; i < end; ++i)
        q[row * width + i] = Policy::element(ldexpf(x[row * width + i], -exponent));
}

template <class Policy>
void launch_quantiser(const Quantiser& call) {
    struct Bytes {
        Byte *q, *scale;
    };
    const Bytes to{reinterpret_cast<Byte*>(call.q.as<__nv_fp8_e4m3>()),
                   reinterpret_cast<Byte*>(call.scale.as<__nv_fp8_e8m0>())};
    const long long blocks = call.scale.elements();
    for_each_below<quantise<Policy>, long long>
        <<<blocks_of(blocks, 64), 64, 0, call.launch.stream>>>(blocks, call.x.as<const float>(),
                                                               to.q, to.scale, call.width);
}

}  // namespace

#define OF_EIGHT_BITS(VARIANT, MISTAKE) \
    GRADVERIFY_KERNEL(Products, VARIANT, (launch_products<MISTAKE, false>)).with(declare_eight)
OF_EIGHT_BITS("right_mxfp8", Mistake::none);
OF_EIGHT_BITS("bug_mx_more_scales", Mistake::more_scales);
OF_EIGHT_BITS("bug_mx_neighbours_scale", Mistake::neighbours_scale);
OF_EIGHT_BITS("bug_mx_unpadded_blocks", Mistake::unpadded_blocks);
OF_EIGHT_BITS("bug_mx_bias_of_126", Mistake::bias_of_126);
OF_EIGHT_BITS("bug_mx_zero_scale", Mistake::zero_scale);
OF_EIGHT_BITS("bug_mx_other_format", Mistake::other_format);
OF_EIGHT_BITS("bug_mx_scale_of_x_alone", Mistake::scale_of_x_alone);

#define OF_FOUR_BITS(VARIANT, MISTAKE) \
    GRADVERIFY_KERNEL(Products, VARIANT, (launch_products<MISTAKE, true>)).with(declare_four)
OF_FOUR_BITS("right_mxfp4", Mistake::none);
OF_FOUR_BITS("bug_mx_swapped_halves", Mistake::swapped_halves);
OF_FOUR_BITS("bug_mx_bytes_unpadded", Mistake::bytes_unpadded);

#define OF_QUANTISER(VARIANT, POLICY)                               \
    GRADVERIFY_KERNEL(Quantiser, VARIANT, launch_quantiser<POLICY>) \
        .storage("q", DType::f8e4m3)                                \
        .storage("scale", DType::f8e8m0)
OF_QUANTISER("right", Right);
OF_QUANTISER("bug_without_signs", WithoutSigns);
OF_QUANTISER("bug_rounds_scale", RoundsScale);
OF_QUANTISER("bug_by_logarithm", ByLogarithm);
OF_QUANTISER("bug_without_clamp", WithoutClamp);
OF_QUANTISER("bug_exponent_of_256", ExponentOf256);
OF_QUANTISER("bug_gives_nan", GivesNan);
OF_QUANTISER("bug_half_away_from_zero", HalfAwayFromZero);
OF_QUANTISER("bug_truncates", Truncates);
