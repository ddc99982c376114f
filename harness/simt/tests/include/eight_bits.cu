// SPDX-License-Identifier: Apache-2.0
// Every float of 8 bits as a wider type and as an integer, and conversions from wider types.
// harness/numbers/element_bits_test.cpp compares the rounding at 200,000 numbers.
#include "harness/simt/tests/construct.hpp"

#include <cuda_fp8.h>
#if __has_include(<cuda_fp4.h>)  // with e8m0, since CUDA 12.8
#include <cuda_fp4.h>
#define HAS_SCALES
#endif

namespace {

/// Fraction bits, the exponent's bias, and the largest number's bits.
struct Format {
    int fraction_bits, bias, largest;

    double value(int bits) const {
        const int rest = bits & 127, exponent = rest >> fraction_bits;
        const int fraction = rest & ((1 << fraction_bits) - 1), one = 1 << fraction_bits;
        const bool has_infinities = largest != 126;
        const double size =
            rest > largest  ? (has_infinities && rest == largest + 1 ? INFINITY : NAN)
            : exponent == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                            : std::ldexp(fraction + one, exponent - bias - fraction_bits);
        return bits < 128 ? size : -size;
    }
};
constexpr Format e4m3 = {3, 7, 126}, e5m2 = {2, 15, 123};

}  // namespace

template <class T>
__global__ void every_number(float* floats, double* doubles, float* halves, float* bfloats,
                             int* integers) {
    const unsigned i = threadIdx.x;
    T number;
    number.__x = static_cast<__nv_fp8_storage_t>(i);
    floats[i] = static_cast<float>(number);
    doubles[i] = static_cast<double>(number);
    halves[i] = __half2float(static_cast<__half>(number));
    bfloats[i] = __bfloat162float(static_cast<__nv_bfloat16>(number));
    integers[i] = static_cast<int>(number);
    integers[256 + i] = static_cast<int>(static_cast<signed char>(number));
    integers[512 + i] = static_cast<int>(static_cast<unsigned char>(number));
    integers[768 + i] = static_cast<bool>(number) ? 1 : 0;
}
template <class T>
void check_every_number(construct::Report& report, const Format& format, const std::string& type) {
    Array<float> floats(256), halves(256), bfloats(256);
    Array<double> doubles(256);
    Array<int> integers(1024);
    every_number<T><<<1, 256>>>(floats, doubles, halves, bfloats, integers);
    const auto value = [&](int i) { return format.value(i); };
    const auto as_float = table(256, [&](int i) { return float(value(i)); });
    report.equal(type + " as float", floats.host(), as_float);
    report.equal(type + " as double", doubles.host(), value);
    report.equal(type + " as half", halves.host(), as_float);
    report.equal(type + " as bfloat16", bfloats.host(), as_float);
    const auto as_integer = [&](int i, double lowest, double highest) {
        const double number = value(i);
        return number != number ? 0 : int(std::min(std::max(std::trunc(number), lowest), highest));
    };
    report.equal(type + " as integers", integers.host(), [&](int i) {
        if (i < 256) return as_integer(i, -0x1p31, 0x1p31 - 1);
        if (i < 512) return as_integer(i % 256, -128, 127);
        if (i < 768) return as_integer(i % 256, 0, 255);
        return value(i % 256) != 0.0 ? 1 : 0;
    });
}
CONSTRUCT(every_float_of_8_bits) {
    check_every_number<__nv_fp8_e4m3>(report, e4m3, "e4m3");
    check_every_number<__nv_fp8_e5m2>(report, e5m2, "e5m2");
}

template <class T>
__global__ void round_to_8_bits(const float* from, unsigned* to, __nv_fp8_interpretation_t kind) {
    const float value = from[threadIdx.x];
    unsigned* const own = to + 6 * threadIdx.x;
    own[0] = T(value).__x;
    own[1] = __nv_cvt_float_to_fp8(value, __NV_NOSAT, kind);
    own[2] = T(static_cast<double>(value) * (1 + 0x1p-40)).__x;
    own[3] = T(__float2half(value)).__x;
    own[4] = T(__float2bfloat16(value)).__x;
    own[5] = T(static_cast<int>(fminf(value, 1e6f))).__x;
}
// Ties, which the double is just beyond; a number that half and bfloat16 round to a tie; tiny and
// huge numbers. Columns: from float, float without saturation, double, half, bfloat16, int.
CONSTRUCT(rounding_to_8_bits) {
    Array<float> from(std::vector<float>{17.0f, 18.0f, 17.0f + 0x1p-12f, -0x1p-10f, 464.0f, 465.0f,
                                         61440.0f, INFINITY});
    Array<unsigned> to(48);
    round_to_8_bits<__nv_fp8_e4m3><<<1, 8>>>(from, to, __NV_E4M3);
    report.equal("e4m3", to.host(), {0x58, 0x58, 0x59, 0x58, 0x58, 0x58,    // 17
                                     0x59, 0x59, 0x59, 0x59, 0x59, 0x59,    // 18
                                     0x59, 0x59, 0x59, 0x58, 0x58, 0x58,    // 17 + 2^-12
                                     0x80, 0x80, 0x81, 0x80, 0x80, 0x00,    // -2^-10
                                     0x7e, 0x7e, 0x7e, 0x7e, 0x7e, 0x7e,    // 464
                                     0x7e, 0x7f, 0x7e, 0x7e, 0x7e, 0x7e,    // 465
                                     0x7e, 0x7f, 0x7e, 0x7e, 0x7e, 0x7e,    // 61440
                                     0x7e, 0x7f, 0x7e, 0x7e, 0x7e, 0x7e});  // infinity
    round_to_8_bits<__nv_fp8_e5m2><<<1, 8>>>(from, to, __NV_E5M2);
    report.equal("e5m2", to.host(), {0x4c, 0x4c, 0x4c, 0x4c, 0x4c, 0x4c,    // 17
                                     0x4c, 0x4c, 0x4d, 0x4c, 0x4c, 0x4c,    // 18
                                     0x4c, 0x4c, 0x4c, 0x4c, 0x4c, 0x4c,    // 17 + 2^-12
                                     0x94, 0x94, 0x94, 0x94, 0x94, 0x00,    // -2^-10
                                     0x5f, 0x5f, 0x5f, 0x5f, 0x5f, 0x5f,    // 464
                                     0x5f, 0x5f, 0x5f, 0x5f, 0x5f, 0x5f,    // 465
                                     0x7b, 0x7c, 0x7b, 0x7b, 0x7b, 0x7b,    // 61440
                                     0x7b, 0x7c, 0x7b, 0x7b, 0x7b, 0x7b});  // infinity
}

__global__ void pairs_and_fours(const float* from, float* to, unsigned* bits) {
    const __nv_fp8x2_e4m3 pair(make_float2(from[0], from[1]));
    const float2 back = static_cast<float2>(pair);
    to[0] = back.x;
    to[1] = back.y;
    const __nv_fp8x4_e5m2 four(make_float4(from[0], from[1], from[2], from[3]));
    const float4 all = static_cast<float4>(four);
    to[2] = all.x;
    to[3] = all.y;
    to[4] = all.z;
    to[5] = all.w;
    const __half2 halves = static_cast<__half2>(pair);
    to[6] = __low2float(halves) + 10.0f * __high2float(halves);
    bits[0] = pair.__x;
    bits[1] = four.__x;
    bits[2] = __nv_fp8x2_e4m3(halves).__x;
    bits[3] = __nv_cvt_float2_to_fp8x2(make_float2(1e9f, -1e9f), __NV_NOSAT, __NV_E4M3);
    bits[4] =
        static_cast<unsigned>(sizeof(pair) * 100 + sizeof(four) * 10 + alignof(__nv_fp8_e5m2));
}
CONSTRUCT(pairs_and_fours_of_8_bits) {
    Array<float> from(std::vector<float>{1.0f, -1.5f, 3.0f, 1e9f}), to(7);
    Array<unsigned> bits(5);
    pairs_and_fours<<<1, 1>>>(from, to, bits);
    report.equal("values", to.host(), {1.0f, -1.5f, 1.0f, -1.5f, 3.0f, 57344.0f, -14.0f});
    report.equal("bits", bits.host(), {0xbc38u, 0x7b42be3cu, 0xbc38u, 0xff7fu, 241u});
}

#ifdef HAS_SCALES
__global__ void every_scale(float* floats, float* bfloats, unsigned* rounded) {
    const unsigned i = threadIdx.x;
    __nv_fp8_e8m0 scale;
    scale.__x = static_cast<__nv_fp8_storage_t>(i);
    floats[i] = static_cast<float>(scale);
    bfloats[i] = __bfloat162float(static_cast<__nv_bfloat16>(scale));
    // The scale itself, and a little more: up, and toward zero.
    const float more = floats[i] * 1.25f;
    rounded[4 * i] = __nv_fp8_e8m0(floats[i]).__x;
    rounded[4 * i + 1] = __nv_fp8_e8m0(static_cast<double>(more)).__x;
    rounded[4 * i + 2] = __nv_cvt_float_to_e8m0(more, __NV_NOSAT, cudaRoundZero);
    rounded[4 * i + 3] = __nv_cvt_float_to_e8m0(-more, __NV_NOSAT, cudaRoundPosInf);
}
CONSTRUCT(every_scale_of_8_bits) {
    Array<float> floats(256), bfloats(256);
    Array<unsigned> rounded(1024);
    every_scale<<<1, 256>>>(floats, bfloats, rounded);
    const auto value = [](int i) { return i == 255 ? NAN : float(std::ldexp(1.0, i - 127)); };
    report.equal("as float", floats.host(), value);
    report.equal("as bfloat16", bfloats.host(), value);
    report.equal("rounded", rounded.host(), [](int at) {
        const unsigned i = static_cast<unsigned>(at) / 4;
        switch (at % 4) {
            case 0:
                return i;
            case 1:
                return i < 254 ? i + 1 : i;
            case 2:
                return i;
            default:
                return i < 254 ? i + 1 : 255u;
        }
    });
}

__global__ void floats_of_4_bits(const float* from, float* to, unsigned* bits) {
    const unsigned i = threadIdx.x;
    bits[i] = __nv_fp4_e2m1(from[i]).__x;
    bits[16 + i] = __nv_cvt_double_to_fp4(static_cast<double>(from[i]), __NV_E2M1, cudaRoundZero);
    __nv_fp4_e2m1 number;
    number.__x = static_cast<__nv_fp4_storage_t>(i);
    to[i] = static_cast<float>(number);
    const __nv_fp4x2_e2m1 pair(make_float2(from[i], 3.0f));
    bits[32 + i] = pair.__x;
    const float2 back = static_cast<float2>(pair);
    to[16 + i] = back.x + 100.0f * back.y;
    if (i == 0) bits[48] = __nv_fp4x4_e2m1(make_float4(0.5f, 1.0f, -6.0f, 2.0f)).__x;
}
// Ties, what is beyond the largest number, and NaN.
CONSTRUCT(floats_of_4_bits) {
    const std::vector<float> given{0.0f, 0.25f, 0.26f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f,
                                   5.0f, 5.01f, 6.9f,  1e9f,  -0.3f, -5.0f, NAN,  -INFINITY};
    Array<float> from(given), to(32);
    Array<unsigned> bits(49);
    floats_of_4_bits<<<1, 16>>>(from, to, bits);
    const std::vector<unsigned> nearest{0, 0, 1, 2, 2, 4, 4, 6, 6, 7, 7, 7, 9, 14, 7, 15};
    const std::vector<unsigned> toward_zero{0, 0, 0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 8, 14, 7, 15};
    const std::vector<float> sizes{0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
    const auto number = [&](unsigned i) { return i < 8 ? sizes[i] : -sizes[i - 8]; };
    report.equal("bits", bits.host(), [&](int at) {
        const auto i = static_cast<std::size_t>(at % 16);
        return at == 48  ? 0x4f21u
               : at < 16 ? nearest[i]
               : at < 32 ? toward_zero[i]
                         : nearest[i] | 0x50u;
    });
    report.equal("values", to.host(), [&](int at) {
        const auto i = static_cast<unsigned>(at % 16);
        return at < 16 ? number(i) : number(nearest[i]) + 300.0f;
    });
}
#endif
