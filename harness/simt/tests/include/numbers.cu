// SPDX-License-Identifier: Apache-2.0
// Half and bfloat16, compared bit for bit with a rounding in double, and arithmetic intrinsics.
#include "harness/simt/tests/construct.hpp"

#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math_constants.h>

namespace {

/// A format: its digits, with the implied one, and its least normal exponent.
struct Format {
    int digits, least_exponent;
    double largest;
};
constexpr Format half_format = {11, -14, 65504.0};
const Format bfloat16_format = {8, -126, std::ldexp(255.0, 120)};

double rounded(double value, const Format& format, double (*to_integer)(double) = nullptr) {
    if (value == 0 || !std::isfinite(value)) return value;
    int exponent = 0;
    std::frexp(value, &exponent);
    const double unit =
        std::ldexp(1.0, std::max(exponent - 1, format.least_exponent) - format.digits + 1);
    const double got =
        (to_integer ? to_integer(value / unit) : std::nearbyint(value / unit)) * unit;
    if (std::abs(got) <= format.largest) return got;
    const bool inward = to_integer && to_integer(value > 0 ? 0.5 : -0.5) == 0;
    return std::copysign(inward ? format.largest : INFINITY, value);
}

/// Numbers with random bits: all exponents, or those near 1.
std::vector<float> random_floats(int count, std::uint32_t seed, bool near_one) {
    std::vector<float> values;
    for (int i = 0; i < count; ++i) {
        seed = seed * 1664525u + 1013904223u;
        std::uint32_t bits = seed ^ seed >> 13;
        if (near_one) bits = (bits & 0x80ffffffu) + 0x3f000000u;
        float value = 0;
        std::memcpy(&value, &bits, sizeof value);
        values.push_back(value == value ? value : 1.0f);
    }
    return values;
}

std::vector<float> rounded(const std::vector<float>& values, const Format& format,
                           double (*to_integer)(double) = nullptr) {
    return table(int(values.size()),
                 [&](int i) { return float(rounded(values[std::size_t(i)], format, to_integer)); });
}

}  // namespace

__global__ void round_floats(const float* from, float* to, int count) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    to[i] = __half2float(__float2half(from[i]));
    to[count + i] = __half2float(__float2half_rz(from[i]));
    to[2 * count + i] = __half2float(__float2half_ru(from[i]));
    to[3 * count + i] = __half2float(__float2half_rd(from[i]));
    to[4 * count + i] = __bfloat162float(__float2bfloat16(from[i]));
    to[5 * count + i] = __bfloat162float(__float2bfloat16_rz(from[i]));
    to[6 * count + i] = __half2float(__double2half(double(from[i]) * (1 + 1e-12)));
}
CONSTRUCT(rounding_to_half_and_bfloat16) {
    const int count = 20000;
    std::vector<float> values = random_floats(count / 2, 1, false);
    // Many of these are halfway between two halves.
    for (int i = 0; i < count / 2; ++i)
        values.push_back(std::ldexp(float(i - count / 4) + 0.5f, i % 40 - 32));
    Array<float> from(values), to(7 * count);
    round_floats<<<(count + 255) / 256, 256>>>(from, to, count);
    const auto got = [all = to.host()](int k) { return part(all, count, k); };
    report.equal("half, nearest", got(0), rounded(values, half_format));
    report.equal("half, toward zero", got(1), rounded(values, half_format, std::trunc));
    report.equal("half, up", got(2), rounded(values, half_format, std::ceil));
    report.equal("half, down", got(3), rounded(values, half_format, std::floor));
    report.equal("bfloat16, nearest", got(4), rounded(values, bfloat16_format));
    report.equal("bfloat16, toward zero", got(5), rounded(values, bfloat16_format, std::trunc));
    report.equal("half from double", got(6), [&](int i) {
        return float(rounded(double(values[std::size_t(i)]) * (1 + 1e-12), half_format));
    });
}

template <class T>
__global__ void narrow_arithmetic(const T* a, const T* b, const T* c, float* out, int count) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= count) return;
    T sum = a[i];
    sum += b[i];
    out[i] = float(sum);
    out[count + i] = float(a[i] - b[i]);
    out[2 * count + i] = float(__hmul(a[i], b[i]));
    out[3 * count + i] = float(a[i] / b[i]);
    out[4 * count + i] = float(__hfma(a[i], b[i], c[i]));
    out[5 * count + i] = float(__hmax(a[i], __hneg(b[i])));
    out[6 * count + i] = (a[i] < b[i] ? 1.0f : 0.0f) + (__hge(a[i], b[i]) ? 2.0f : 0.0f);
}
template <class T>
void check_arithmetic(construct::Report& report, const Format& format, const std::string& type) {
    const int count = 4096;
    const auto draw = [&](std::uint32_t seed) {
        return rounded(random_floats(count, seed, true), format);
    };
    const std::vector<float> a = draw(11), b = draw(12), c = draw(13);
    Array<T> from_a(as<T>(a)), from_b(as<T>(b)), from_c(as<T>(c));
    Array<float> out(7 * count);
    narrow_arithmetic<T><<<count / 128, 128>>>(from_a, from_b, from_c, out, count);
    const std::vector<float> got = out.host();
    const auto compare = [&](const char* what, int k, auto exact) {
        report.equal(type + " " + what, part(got, count, k), [&](int at) {
            const auto i = std::size_t(at);
            return float(rounded(exact(a[i], b[i], c[i]), format));
        });
    };
    compare("+", 0, [](double x, double y, double) { return x + y; });
    compare("-", 1, [](double x, double y, double) { return x - y; });
    compare("*", 2, [](double x, double y, double) { return x * y; });
    compare("/", 3, [](double x, double y, double) { return x / y; });
    compare("fused multiply-add", 4, [](double x, double y, double z) { return x * y + z; });
    compare("maximum", 5, [](double x, double y, double) { return x > -y ? x : -y; });
    compare("comparisons", 6, [](double x, double y, double) { return x < y ? 1.0 : 2.0; });
}
CONSTRUCT(half_arithmetic) { check_arithmetic<__half>(report, half_format, "half"); }
CONSTRUCT(bfloat16_arithmetic) {
    check_arithmetic<__nv_bfloat16>(report, bfloat16_format, "bfloat16");
}

__global__ void pairs(const float* from, float* to) {
    const __half2 a = __floats2half2_rn(from[0], from[1]);
    const half2 b = __float2half2_rn(from[2]);
    const float2 sum = __half22float2(__hadd2(a, b));
    const half2 fused = __hfma2(a, b, __halves2half2(b.x, __high2half(a)));
    const __nv_bfloat162 wide = __float22bfloat162_rn(make_float2(from[0], from[1]));
    to[0] = sum.x;
    to[1] = sum.y;
    to[2] = __low2float(fused);
    to[3] = __high2float(fused);
    to[4] = __low2float(a * b);
    to[5] = __bfloat162float((wide + wide).y);
    to[6] = __half2float(hexp(__float2half(0.0f)) + hsqrt(__float2half(9.0f)));
    to[7] = float(__half2int_rn(__float2half(2.5f)) * 10 + __half2int_rz(__float2half(-1.75f)));
    to[8] = __half2float(__int2half_rn(2049));
    to[9] =
        __half2float(*reinterpret_cast<const __half*>(&a)) + float(sizeof(half2) + alignof(half2));
}
CONSTRUCT(pairs_of_half) {
    Array<float> from(std::vector<float>{1.5f, -2.0f, 3.0f}), to(10);
    pairs<<<1, 1>>>(from, to);
    report.equal("to", to.host(), {4.5f, 1, 7.5f, -8, 4.5f, -4, 4, 19, 2048, 9.5f});
}

__global__ void intrinsics(unsigned* out, float* real) {
    out[0] = unsigned(__clz(1 << 20)) + unsigned(__clzll(1ll << 40)) * 100;
    out[1] = unsigned(__popc(0xf0f0u)) + unsigned(__popcll(0xffull << 30)) * 100;
    out[2] = unsigned(__ffs(0x80)) + unsigned(__ffsll(1ll << 35)) * 100;
    out[3] = __brev(0x1u) ^ unsigned(__brevll(0x3ull) >> 32);
    out[4] = __umulhi(0xffffffffu, 10u) + unsigned(__mulhi(-5, 1 << 30)) * 100;
    out[5] = __byte_perm(0x33221100u, 0x77665544u, 0x7250);
    out[6] = __funnelshift_l(0x80000000u, 0x1u, 4) + __funnelshift_r(0x10u, 0x1u, 4);
    out[7] = unsigned(__float2int_rn(2.5f) * 1000 + __float2int_rz(-2.9f) * 100 +
                      __float2int_ru(2.1f) * 10 + __float2int_rd(-2.1f));
    out[8] = unsigned(__float2int_rz(1e20f)) - unsigned(__float2int_rz(NAN));
    out[9] = unsigned(__dp4a(0x01020304, 0x05060708, 1));
    out[10] = unsigned(__double2hiint(1.0)) + unsigned(__float_as_int(2.0f));
    out[11] = unsigned(__hadd(7, -4)) + unsigned(__rhadd(7, -4)) * 16 + __usad(3, 10, 1) * 256;
    real[0] = __fmaf_rn(1.0f + 0x1p-12f, 1.0f - 0x1p-12f, -1.0f);
    real[1] = __fadd_rz(1.0f, -0x1p-30f);
    real[2] = __fadd_ru(1.0f, 0x1p-40f);
    real[3] = __fmul_rd(1.0f + 0x1p-23f, 1.0f + 0x1p-23f);
    real[4] = __fadd_rn(1.0f, 0x1p-24f) + __fmul_rn(3.0f, 0.5f);
    real[5] = __fdiv_rn(1.0f, 3.0f);
    real[6] = __fsqrt_rn(2.0f);
    real[7] = __int2float_rz(0x7fffffff);
    real[8] = __double2float_ru(1e-300) > 0 ? __saturatef(1.5f) : -1.0f;
    real[9] = fminf(NAN, 1.0f) + float(max(2, 3)) + float(min(-1.5f, 2.0f)) + CUDART_INF_F * 0.0f;
    real[10] = __frcp_rn(3.0f);
    real[11] = float(__fma_rn(1.0 + 0x1p-30, 1.0 - 0x1p-30, -1.0) * 0x1p60);
}
CONSTRUCT(integer_and_rounding_intrinsics) {
    Array<unsigned> out(12);
    Array<float> real(12);
    intrinsics<<<1, 1>>>(out, real);
    report.equal("integers", out.host(),
                 {2311, 808, 3608, 0x80000000u ^ 0xc0000000u, 9u + unsigned(-2) * 100, 0x77225500u,
                  0x18u + 0x10000001u, 2000 - 200 + 30 - 3, 0x7fffffffu, 71,
                  0x3ff00000u + 0x40000000u, 1 + 2 * 16 + 8 * 256});
    report.equal("reals", real.host(),
                 {-0x1p-24f, 1.0f - 0x1p-24f, 1.0f + 0x1p-23f, 1.0f + 0x1p-22f, 2.5f, 1.0f / 3.0f,
                  std::sqrt(2.0f), 0x1.fffffep30f, 1.0f, NAN, 1.0f / 3.0f, -1.0f});
}

// Each function of the float `a`, and what it is of the double `x`.
#define FUNCTIONS(OF)                                                                      \
    OF(__expf(a), std::exp(x))                                                             \
    OF(rsqrtf(a), 1 / std::sqrt(x))                                                        \
    OF(erff(a), std::erf(x))                                                               \
    OF(tanhf(a) + __logf(a + 1.5f), std::tanh(x) + std::log(x + 1.5))                      \
    OF(__powf(a, 1.5f), std::pow(x, 1.5))                                                  \
    OF(sine* sine + cosine * cosine, 1)                                                    \
    OF(sinpif(a) + cospif(a + 2.0f), std::sin(pi * x) + std::cos(pi * x))                  \
    OF(__fdividef(a, 3.0f), x / 3)                                                         \
    OF(log1pf(a) + expm1f(a), std::log1p(x) + std::expm1(x))                               \
    OF(normcdff(a), std::erfc(-x / std::sqrt(2.0)) / 2)                                    \
    OF(rcbrtf(a) + cbrtf(a), 1 / std::cbrt(x) + std::cbrt(x))                              \
    OF(exp10f(a) + exp2f(a), std::pow(10, x) + std::exp2(x))                               \
    OF(hypotf(a, 2.0f) + rhypotf(a, 2.0f), std::hypot(x, 2) + 1 / std::hypot(x, 2))        \
    OF(lgammaf(a) + tgammaf(a), std::lgamma(x) + std::tgamma(x))                           \
    OF(erfcxf(a), std::exp(x* x) * std::erfc(x))                                           \
    OF(erfinvf(a / 3.0f), inverse_of_erf(double(float(x) / 3.0f)))                         \
    OF(fmodf(a, 0.3f) + copysignf(1.0f, -a) + fdimf(a, 1.0f),                              \
       std::fmod(x, double(0.3f)) - 1 + std::fdim(x, 1.0))                                 \
    OF(__cosf(a) + __sinf(a), std::cos(x) + std::sin(x))                                   \
    OF(norm3df(a, 1.0f, 2.0f), std::sqrt(x* x + 5))                                        \
    OF(float(isfinite(a)) + float(signbit(-a) != 0) + roundf(a) + rintf(a) + ldexpf(a, 2), \
       2 + std::round(x) + std::rint(x) + 4 * x)
#define GOT(FUNCTION, WANT) FUNCTION,
#define WANT(FUNCTION, WANT) WANT,
__global__ void functions(const float* from, float* out, double* wide) {
    const unsigned i = threadIdx.x;
    const float a = from[i];
    float sine, cosine;
    sincosf(a, &sine, &cosine);
    const float values[] = {FUNCTIONS(GOT)};
    for (int k = 0; k < 20; ++k) out[i * 20 + k] = values[k];
    wide[i] = erf(double(a)) + rsqrt(double(a)) + exp10(double(a)) + normcdf(double(a));
}
/// By bisection, of a positive number.
static double inverse_of_erf(double y) {
    double low = 0, high = 6;
    for (int step = 0; step < 80; ++step)
        (std::erf((low + high) / 2) < y ? low : high) = (low + high) / 2;
    return low;
}
CONSTRUCT(mathematical_functions) {
    const std::vector<float> all = {0.25f, 0.7f, 1.0f, 1.9f, 2.6f};
    Array<float> from(all), out(100);
    Array<double> wide(5);
    functions<<<1, 5>>>(from, out, wide);
    const auto want = [&](int i) {
        const double x = all[std::size_t(i / 20)], pi = std::acos(-1.0);
        const double values[] = {FUNCTIONS(WANT)};
        return float(values[i % 20]);
    };
    report.near("float", out.host(), table(100, want), 4e-6);
    const auto want_wide = [&](int i) {
        const double x = all[std::size_t(i)];
        return std::erf(x) + 1 / std::sqrt(x) + std::pow(10, x) +
               std::erfc(-x / std::sqrt(2.0)) / 2;
    };
    report.near("double", wide.host(), table(5, want_wide), 1e-14);
}
