// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of integers of 8 bits: signs, sums in 16 bits, pairs that saturate; and right kernels
// whose results are of 8 bits, or floats. Linked into the tests only; integers_test.cpp says which
// property must kill each, and at which problem.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "harness/kernel.hpp"
#include "kernels/avgpool/window.cuh"
#include "kernels/conv/geometry.cuh"
#include "reference/avgpool.hpp"
#include "reference/fc.hpp"

namespace {

using gradverify::DType;
using gradverify::conv::DeviceGeometry;
using gradverify::conv::Forward;

// How the forward pass goes wrong: over the channels of a tap, then those of the next, and when
// the sum is stored with the bias.
struct Right {
    int sum = 0;
    __device__ void add(int a, int b) { sum += a * b; }
    __device__ void end_tap() {}
    __device__ void store(std::int32_t bias, std::int32_t& y) const { y = sum + bias; }
    __device__ void store(std::int8_t bias, std::int8_t& y) const {
        y = static_cast<std::int8_t>(sum + bias);
    }
    __device__ void store(float bias, float& y) const { y = static_cast<float>(sum) + bias; }
};
struct Saturates : Right {
    __device__ void store(std::int8_t bias, std::int8_t& y) const {
        const int result = sum + bias;
        y = static_cast<std::int8_t>(result < -128 ? -128 : (result > 127 ? 127 : result));
    }
};
// 128 is no i8, and becomes -128.
struct CutsOffAt128 : Right {
    __device__ void store(std::int8_t bias, std::int8_t& y) const {
        const int result = sum + bias;
        y = static_cast<std::int8_t>(result < -128 ? -128 : (result > 128 ? 128 : result));
    }
};
// Sums in 16 bits that saturate are beyond the range all the same; those that wrap may not be.
struct WrapsIn16Bits : Saturates {
    __device__ void add(int a, int b) { sum = static_cast<std::int16_t>(sum + a * b); }
};
struct TakesSignsAway : Right {
    __device__ void add(int a, int b) { sum += (a & 0xff) * b; }
};
// As if an image after a ReLU had signs.
struct GivesSigns : Right {
    __device__ void add(int a, int b) { sum += static_cast<std::int8_t>(a) * b; }
};
struct MultipliesIn8Bits : Right {
    __device__ void add(int a, int b) { sum += static_cast<std::int8_t>(a * b); }
};
struct SumsIn16Bits : Right {
    __device__ void add(int a, int b) { sum = static_cast<std::int16_t>(sum + a * b); }
};
// Two products are added in 16 bits, as some vector instructions of CPUs do it.
struct SaturatesPairs : Right {
    int pair = 0;
    bool is_second = false;
    __device__ void add(int a, int b) {
        pair += a * b;
        if (is_second)
            end_tap();
        else
            is_second = true;
    }
    __device__ void end_tap() {
        sum += pair < -32768 ? -32768 : (pair > 32767 ? 32767 : pair);
        pair = 0;
        is_second = false;
    }
};

template <class How, class Image, class Result>
__global__ void convolve(const Image* x, const std::int8_t* w, const Result* b, Result* y,
                         DeviceGeometry g) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= g.n * g.k * g.h.out * g.w.out) return;
    const long long ow = i % g.w.out, oh = i / g.w.out % g.h.out;
    const long long k = i / (g.w.out * g.h.out) % g.k, n = i / (g.w.out * g.h.out * g.k);
    How how;
    for (long long fh = 0; fh < g.h.filter; ++fh)
        for (long long fw = 0; fw < g.w.filter; ++fw) {
            const long long ih = oh * g.h.stride + fh * g.h.dilation - g.h.padding;
            const long long iw = ow * g.w.stride + fw * g.w.dilation - g.w.padding;
            if (ih < 0 || ih >= g.h.in || iw < 0 || iw >= g.w.in) continue;
            for (long long c = 0; c < g.group_c; ++c) {
                const long long x_c = k / g.group_k * g.group_c + c;
                how.add(x[((n * g.c + x_c) * g.h.in + ih) * g.w.in + iw],
                        w[((k * g.group_c + c) * g.h.filter + fh) * g.w.filter + fw]);
            }
            how.end_tap();
        }
    how.store(b[k], y[i]);
}

template <class How, class Image = std::int8_t, class Result = std::int32_t>
void launch(const Forward& call) {
    convolve<How>
        <<<gradverify::conv::blocks_for(call.y.elements(), 64), 64, 0, call.launch.stream>>>(
            call.x.as<const Image>(), call.w.as<const std::int8_t>(), call.b.as<const Result>(),
            call.y.as<Result>(), gradverify::conv::device_geometry(call.problem, call.y));
}

/// To `y` of this type; what u8 lacks saturates.
template <class Result>
__device__ Result stored(int sum) {
    if constexpr (std::is_same_v<Result, std::uint8_t>)
        return static_cast<Result>(sum < 0 ? 0 : (sum > 255 ? 255 : sum));
    else
        return static_cast<Result>(sum);
}
template <>
__device__ __nv_bfloat16 stored(int sum) {
    return __float2bfloat16(static_cast<float>(sum));
}

// Right: rows of x times rows of w.
template <class Factor, class Result>
__global__ void connect(const Factor* x, const Factor* w, const Result* b, Result* y, int n, int c,
                        int k) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n * k) return;
    int sum = 0;
    for (int at = 0; at < c; ++at)
        sum += static_cast<int>(x[i / k * static_cast<long long>(c) + at]) *
               static_cast<int>(w[i % k * static_cast<long long>(c) + at]);
    if constexpr (std::is_same_v<Result, __nv_bfloat16>)
        y[i] = __float2bfloat16(static_cast<float>(sum) + __bfloat162float(b[i % k]));
    else
        y[i] = stored<Result>(sum + static_cast<int>(b[i % k]));
}
template <class Factor, class Result>
void launch_connect(const gradverify::fc::Forward& call) {
    connect<<<static_cast<unsigned>((call.y.elements() + 63) / 64), 64, 0, call.launch.stream>>>(
        call.x.as<const Factor>(), call.w.as<const Factor>(), call.b.as<const Result>(),
        call.y.as<Result>(), static_cast<int>(call.n), static_cast<int>(call.c),
        static_cast<int>(call.k));
}

// Right: the mean is cut off.
__global__ void average(const std::int8_t* x, std::int32_t* y, PoolGeometry g, bool include_pad) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= g.outputs()) return;
    const AverageWindow rows(g.h, i / g.w.out % g.h.out, include_pad);
    const AverageWindow columns(g.w, i % g.w.out, include_pad);
    const std::int8_t* const plane = x + i / (g.h.out * g.w.out) * g.h.in * g.w.in;
    int sum = 0;
    for (long long h = rows.begin; h < rows.end; ++h)
        for (long long w = columns.begin; w < columns.end; ++w) sum += plane[h * g.w.in + w];
    y[i] = sum / static_cast<int>(rows.counted * columns.counted);
}
void launch_average(const gradverify::avgpool::Forward& call) {
    const PoolGeometry g = pool_geometry(call, call.y);
    average<<<blocks_of(g.outputs(), 128), 128, 0, call.launch.stream>>>(
        call.x.as<const std::int8_t>(), call.y.as<std::int32_t>(), g, call.include_pad);
}

// Right: sums of numbers without a sign, which all go one way.
struct RowSum : gradverify::Pass<"row_sum", "forward"> {
    using Pass::Pass;
    gradverify::TensorView x = tensor("x"), y = tensor("y");
};
__global__ void sum_rows(const std::uint8_t* x, __nv_bfloat16* y, int rows, int width) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= rows) return;
    int sum = 0;
    for (int at = 0; at < width; ++at) sum += x[i * static_cast<long long>(width) + at];
    y[i] = stored<__nv_bfloat16>(sum);
}
void launch_sum_rows(const RowSum& call) {
    const int rows = static_cast<int>(call.x.size(0));
    sum_rows<<<static_cast<unsigned>((rows + 63) / 64), 64, 0, call.launch.stream>>>(
        call.x.as<const std::uint8_t>(), call.y.as<__nv_bfloat16>(), rows,
        static_cast<int>(call.x.size(1)));
}

template <DType image, DType result>
void declare(gradverify::KernelDeclaration& kernel) {
    kernel.storage(result).storage("x", image).storage("w", DType::i8);
}
constexpr auto declare_sums = declare<DType::i8, DType::i32>;

}  // namespace

GRADVERIFY_KERNEL(Forward, "right_i8_wraps", launch<Right, std::int8_t, std::int8_t>)
    .with(declare<DType::i8, DType::i8>);
GRADVERIFY_KERNEL(Forward, "right_i8_saturates", launch<Saturates, std::int8_t, std::int8_t>)
    .with(declare<DType::i8, DType::i8>)
    .saturates();
GRADVERIFY_KERNEL(Forward, "bug_i8_wraps", launch<Right, std::int8_t, std::int8_t>)
    .with(declare<DType::i8, DType::i8>)
    .saturates();
GRADVERIFY_KERNEL(Forward, "bug_i8_cut_off_at_128", launch<CutsOffAt128, std::int8_t, std::int8_t>)
    .with(declare<DType::i8, DType::i8>)
    .saturates();
GRADVERIFY_KERNEL(Forward, "bug_i8_wraps_in_16_bits",
                  launch<WrapsIn16Bits, std::int8_t, std::int8_t>)
    .with(declare<DType::i8, DType::i8>)
    .saturates();
GRADVERIFY_KERNEL(Forward, "right_i8_to_float", launch<Right, std::int8_t, float>)
    .with(declare<DType::i8, DType::f32>);
GRADVERIFY_KERNEL(gradverify::fc::Forward, "right_u8_bf16",
                  (launch_connect<std::uint8_t, __nv_bfloat16>))
    .with(declare<DType::u8, DType::bf16>)
    .storage("w", DType::u8);
GRADVERIFY_KERNEL(gradverify::fc::Forward, "right_u8", (launch_connect<std::uint8_t, std::uint8_t>))
    .storage(DType::u8)
    .saturates();
GRADVERIFY_KERNEL(gradverify::fc::Forward, "right_i32",
                  (launch_connect<std::int32_t, std::int32_t>))
    .storage(DType::i32);
GRADVERIFY_KERNEL(gradverify::avgpool::Forward, "right_i8", launch_average)
    .storage("x", DType::i8)
    .storage("y", DType::i32);
GRADVERIFY_KERNEL(RowSum, "right_u8_bf16", launch_sum_rows)
    .storage("x", DType::u8)
    .storage("y", DType::bf16);
GRADVERIFY_KERNEL(Forward, "bug_i8_read_as_u8", launch<TakesSignsAway>).with(declare_sums);
GRADVERIFY_KERNEL(Forward, "bug_i8_products_in_8_bits", launch<MultipliesIn8Bits>)
    .with(declare_sums);
GRADVERIFY_KERNEL(Forward, "bug_i8_sums_in_16_bits", launch<SumsIn16Bits>).with(declare_sums);
GRADVERIFY_KERNEL(Forward, "bug_u8_read_as_i8", launch<GivesSigns, std::uint8_t>)
    .with(declare<DType::u8, DType::i32>);
GRADVERIFY_KERNEL(Forward, "bug_u8_pairs_saturate", launch<SaturatesPairs, std::uint8_t>)
    .with(declare<DType::u8, DType::i32>);
