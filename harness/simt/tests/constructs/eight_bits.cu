// SPDX-License-Identifier: Apache-2.0
// Floats of 8 bits: every one of them as a wider type and as an integer, and what wider types are
// rounded to, bit for bit, by the definition of the formats.
#include "harness/simt/tests/constructs/construct.hpp"

#include <cstdint>

#include <cuda_fp8.h>

using construct::Array;
using construct::table;

namespace {

/// So many digits after the first, and the bits of the largest number.
struct Format {
    int fraction_bits, bias;
    unsigned largest;

    double value(unsigned bits) const {
        const unsigned rest = bits & 127u, exponent = rest >> fraction_bits;
        const unsigned fraction = rest & ((1u << fraction_bits) - 1u);
        const bool has_infinities = largest != 126u;
        double size = 0.0;
        if (rest > largest)
            size = has_infinities && rest == largest + 1 ? INFINITY : NAN;
        else if (exponent == 0)
            size = std::ldexp(double(fraction), 1 - bias - fraction_bits);
        else
            size = std::ldexp(double(fraction + (1u << fraction_bits)),
                              int(exponent) - bias - fraction_bits);
        return (bits & 128u) != 0 ? -size : size;
    }
    /// The nearest of all numbers, as if there were one more beyond the largest; of two the even.
    unsigned rounded(double value, bool saturates) const {
        if (value != value) return 127u;
        const unsigned sign = std::signbit(value) ? 128u : 0u;
        const double size = std::abs(value);
        const double beyond =
            std::ldexp(2.0, std::ilogb(this->value(largest)) - fraction_bits - 1) +
            this->value(largest);
        unsigned best = 0;
        for (unsigned bits = 1; bits <= largest + 1; ++bits) {
            const double of_best = std::abs(this->value(best) - size);
            const double of_this = std::abs((bits > largest ? beyond : this->value(bits)) - size);
            if (of_this < of_best || (of_this == of_best && bits % 2 == 0)) best = bits;
        }
        if (size > beyond) best = largest + 1;
        if (best <= largest) return sign | best;
        return sign | (saturates ? largest : largest + 1);
    }
};
constexpr Format e4m3 = {3, 7, 126}, e5m2 = {2, 15, 123};

/// Numbers with all exponents, many of them halfway between two of a few digits.
std::vector<float> random_floats(int count) {
    std::vector<float> values = {0.0f,     -0.0f,      448.0f,   464.0f,    464.001f, 480.0f,
                                 57344.0f, 61439.99f,  61440.0f, 61440.01f, 0x1p-10f, 0x1.1p-10f,
                                 0x1p-17f, 0x1.1p-17f, INFINITY, -INFINITY, -1e30f,   1e-40f};
    std::uint32_t seed = 9;
    while (int(values.size()) < count) {
        seed = seed * 1664525u + 1013904223u;
        const int exponent = int(seed >> 8 & 63u) - 30;
        const float significand = 1.0f + float(seed >> 24 & 63u) / 64.0f;
        const float off = (seed >> 16 & 3u) == 0 ? 1.0f + 0x1p-20f : 1.0f;
        values.push_back((seed >> 20 & 1u ? -1.0f : 1.0f) * off *
                         std::ldexp(significand, exponent));
    }
    return values;
}

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
    const auto value = [&](int i) { return format.value(unsigned(i)); };
    const auto as_float = table(256, [&](int i) { return float(value(i)); });
    report.equal(type + " as float", floats.host(), as_float);
    report.equal(type + " as double", doubles.host(), table(256, value));
    report.equal(type + " as half", halves.host(), as_float);
    report.equal(type + " as bfloat16", bfloats.host(), as_float);
    const auto as_integer = [&](int i, double lowest, double highest) {
        const double number = value(i);
        return number != number ? 0 : int(std::min(std::max(std::trunc(number), lowest), highest));
    };
    report.equal(type + " as integers", integers.host(), table(1024, [&](int i) {
                     if (i < 256) return as_integer(i, -0x1p31, 0x1p31 - 1);
                     if (i < 512) return as_integer(i % 256, -128, 127);
                     if (i < 768) return as_integer(i % 256, 0, 255);
                     return value(i % 256) != 0.0 ? 1 : 0;
                 }));
}
CONSTRUCT(every_float_of_8_bits) {
    check_every_number<__nv_fp8_e4m3>(report, e4m3, "e4m3");
    check_every_number<__nv_fp8_e5m2>(report, e5m2, "e5m2");
}

template <class T>
__global__ void round_to_8_bits(const float* from, unsigned* to, __nv_fp8_interpretation_t kind,
                                int count) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    const float value = from[i];
    to[i] = T(value).__x;
    to[count + i] = __nv_cvt_float_to_fp8(value, __NV_NOSAT, kind);
    to[2 * count + i] = T(static_cast<double>(value) * (1 + 0x1p-40)).__x;
    to[3 * count + i] = T(__float2half(value)).__x;
    to[4 * count + i] = T(__float2bfloat16(value)).__x;
    to[5 * count + i] = T(static_cast<int>(fminf(fmaxf(value, -1e6f), 1e6f))).__x;
}
template <class T>
void check_rounding(construct::Report& report, const Format& format, __nv_fp8_interpretation_t kind,
                    const std::string& type) {
    const int count = 4096;
    const std::vector<float> values = random_floats(count);
    Array<float> from(values);
    Array<unsigned> to(6 * count);
    round_to_8_bits<T><<<count / 256, 256>>>(from, to, kind, count);
    const std::vector<unsigned> got = to.host();
    const auto compare = [&](const char* what, int k, bool saturates, auto number) {
        report.equal(type + " from " + what,
                     std::vector<unsigned>(got.begin() + k * count, got.begin() + (k + 1) * count),
                     table(count, [&](int i) {
                         return format.rounded(number(values[std::size_t(i)]), saturates);
                     }));
    };
    compare("float", 0, true, [](float x) { return double(x); });
    compare("float, not saturated", 1, false, [](float x) { return double(x); });
    compare("double", 2, true, [](float x) { return double(x) * (1 + 0x1p-40); });
    compare("half", 3, true, [](float x) { return double(__half2float(__float2half(x))); });
    compare("bfloat16", 4, true,
            [](float x) { return double(__bfloat162float(__float2bfloat16(x))); });
    compare("int", 5, true,
            [](float x) { return double(int(std::min(std::max(x, -1e6f), 1e6f))); });
}
CONSTRUCT(rounding_to_8_bits) {
    check_rounding<__nv_fp8_e4m3>(report, e4m3, __NV_E4M3, "e4m3");
    check_rounding<__nv_fp8_e5m2>(report, e5m2, __NV_E5M2, "e5m2");
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
    report.equal("values", to.host(),
                 std::vector<float>{1.0f, -1.5f, 1.0f, -1.5f, 3.0f, 57344.0f, -14.0f});
    report.equal("bits", bits.host(),
                 std::vector<unsigned>{0xbc38u, 0x7b42be3cu, 0xbc38u, 0xff7fu, 241u});
}
