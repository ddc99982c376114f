// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of element types: each computes or stores in less than it declares. Linked into the
// tests only; element_types_test.cpp says which property must kill each, and at which problem.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/conv/geometry.cuh"
#include "reference/layer_norm.hpp"

namespace {

using gradverify::DType;
using gradverify::conv::DeviceGeometry;
using gradverify::conv::Forward;
using gradverify::conv::GradWeight;
using NormBackward = gradverify::layer_norm::Backward;
using NormForward = gradverify::layer_norm::Forward;

// How a gradient by the weights goes wrong: `Element` is what tensors hold.
struct RightInHalf {
    using Element = __half;
    float sum = 0.0f;
    __device__ void add(__half dy, __half x) { sum += __half2float(dy) * __half2float(x); }
};
struct SumsInHalf {
    using Element = __half;
    __half sum = __float2half(0.0f);
    __device__ void add(__half dy, __half x) { sum = __hadd(sum, __hmul(dy, x)); }
    __device__ __half result() const { return sum; }
};
struct RoundsProducts : RightInHalf {
    __device__ void add(__half dy, __half x) { sum += __half2float(__hmul(dy, x)); }
    __device__ __half result() const { return __float2half(sum); }
};
struct ThroughInteger : RightInHalf {
    __device__ __half result() const {
        return __float2half(static_cast<float>(static_cast<int>(sum)));
    }
};
// A half whose bits are taken for a bfloat16's: the same where it is 0.
struct TakenForBfloat16 : RightInHalf {
    __device__ __half result() const {
        return __ushort_as_half(__bfloat16_as_ushort(__float2bfloat16(sum)));
    }
};
struct Truncates {
    using Element = __nv_bfloat16;
    float sum = 0.0f;
    __device__ void add(__nv_bfloat16 dy, __nv_bfloat16 x) {
        sum += __bfloat162float(dy) * __bfloat162float(x);
    }
    __device__ __nv_bfloat16 result() const { return __float2bfloat16_rz(sum); }
};
struct SumsInFloat {
    using Element = double;
    float sum = 0.0f;
    __device__ void add(double dy, double x) {
        sum += static_cast<float>(dy) * static_cast<float>(x);
    }
    __device__ double result() const { return sum; }
};

template <class How>
__global__ void correlate(const typename How::Element* dy, const typename How::Element* x,
                          typename How::Element* dw, DeviceGeometry g) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long taps = g.h.filter * g.w.filter;
    if (i >= g.k * g.group_c * taps) return;
    const long long fw = i % g.w.filter, fh = i / g.w.filter % g.h.filter;
    const long long k = i / taps / g.group_c, c = k / g.group_k * g.group_c + i / taps % g.group_c;
    How how;
    for (long long n = 0; n < g.n; ++n)
        for (long long at = 0; at < g.h.out * g.w.out; ++at) {
            const long long oh = at / g.w.out, ow = at % g.w.out;
            const long long ih = oh * g.h.stride + fh * g.h.dilation - g.h.padding;
            const long long iw = ow * g.w.stride + fw * g.w.dilation - g.w.padding;
            if (ih < 0 || ih >= g.h.in || iw < 0 || iw >= g.w.in) continue;
            how.add(dy[(n * g.k + k) * g.h.out * g.w.out + at],
                    x[((n * g.c + c) * g.h.in + ih) * g.w.in + iw]);
        }
    dw[i] = how.result();
}

template <class How>
void launch_correlate(const GradWeight& call) {
    using Element = typename How::Element;
    correlate<How>
        <<<gradverify::conv::blocks_for(call.dw.elements(), 64), 64, 0, call.launch.stream>>>(
            call.dy.as<const Element>(), call.x.as<const Element>(), call.dw.as<Element>(),
            gradverify::conv::device_geometry(call.problem, call.dy));
}

// The sum of products is stored as a half, and the bias added to that.
__global__ void bias_added_to_half(const __half* x, const __half* w, const __half* b, __half* y,
                                   DeviceGeometry g) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= g.n * g.k * g.h.out * g.w.out) return;
    const long long ow = i % g.w.out, oh = i / g.w.out % g.h.out;
    const long long k = i / (g.w.out * g.h.out) % g.k, n = i / (g.w.out * g.h.out * g.k);
    float sum = 0.0f;
    for (long long c = 0; c < g.group_c; ++c)
        for (long long fh = 0; fh < g.h.filter; ++fh)
            for (long long fw = 0; fw < g.w.filter; ++fw) {
                const long long ih = oh * g.h.stride + fh * g.h.dilation - g.h.padding;
                const long long iw = ow * g.w.stride + fw * g.w.dilation - g.w.padding;
                if (ih < 0 || ih >= g.h.in || iw < 0 || iw >= g.w.in) continue;
                const long long x_c = k / g.group_k * g.group_c + c;
                sum += __half2float(x[((n * g.c + x_c) * g.h.in + ih) * g.w.in + iw]) *
                       __half2float(w[((k * g.group_c + c) * g.h.filter + fh) * g.w.filter + fw]);
            }
    y[i] = __hadd(__float2half(sum), b[k]);
}

void launch_forward(const Forward& call) {
    bias_added_to_half<<<gradverify::conv::blocks_for(call.y.elements(), 64), 64, 0,
                         call.launch.stream>>>(
        call.x.as<const __half>(), call.w.as<const __half>(), call.b.as<const __half>(),
        call.y.as<__half>(), gradverify::conv::device_geometry(call.problem, call.y));
}

__device__ float rounded(float value) { return __bfloat162float(__float2bfloat16(value)); }

struct Rows {
    const __nv_bfloat16 *x, *gamma, *beta;
    __nv_bfloat16* y;
    float *mean, *rstd;
};

// The mean that is taken off is rounded to the tensors' type; the one that is saved is not.
__global__ void normalise_by_rounded_mean(Rows t, int rows, int width, float eps) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const auto x = [&](int j) { return __bfloat162float(t.x[r * width + j]); };
    float sum = 0.0f, squares = 0.0f;
    for (int j = 0; j < width; ++j) sum += x(j);
    const float mean = sum / width;
    for (int j = 0; j < width; ++j) squares += (x(j) - mean) * (x(j) - mean);
    const float rstd = rsqrtf(squares / width + eps);
    for (int j = 0; j < width; ++j)
        t.y[r * width + j] =
            __float2bfloat16((x(j) - rounded(mean)) * rstd * __bfloat162float(t.gamma[j]) +
                             __bfloat162float(t.beta[j]));
    t.mean[r] = mean, t.rstd[r] = rstd;
}

void launch_norm_forward(const NormForward& call) {
    const Rows tensors{call.x.as<const __nv_bfloat16>(),
                       call.gamma.as<const __nv_bfloat16>(),
                       call.beta.as<const __nv_bfloat16>(),
                       call.y.as<__nv_bfloat16>(),
                       call.mean.as<float>(),
                       call.rstd.as<float>()};
    normalise_by_rounded_mean<<<static_cast<unsigned>((call.rows + 63) / 64), 64, 0,
                                call.launch.stream>>>(tensors, static_cast<int>(call.rows),
                                                      static_cast<int>(call.width), call.eps);
}

struct Cotangents {
    const __nv_bfloat16 *dy, *x, *gamma;
    const float *mean, *rstd;
};

// dgamma and dbeta are added up in the memory that they are stored in.
__global__ void sums_in_outputs(Cotangents in, __nv_bfloat16* dx, __nv_bfloat16* dgamma,
                                __nv_bfloat16* dbeta, int rows, int width) {
    if (blockIdx.x + threadIdx.x > 0) return;
    for (int j = 0; j < width; ++j) dgamma[j] = dbeta[j] = __float2bfloat16(0.0f);
    for (int r = 0; r < rows; ++r) {
        const auto dy = [&](int j) { return __bfloat162float(in.dy[r * width + j]); };
        const auto g = [&](int j) { return dy(j) * __bfloat162float(in.gamma[j]); };
        const auto xhat = [&](int j) {
            return (__bfloat162float(in.x[r * width + j]) - in.mean[r]) * in.rstd[r];
        };
        float sum = 0.0f, sum_xhat = 0.0f;
        for (int j = 0; j < width; ++j) sum += g(j), sum_xhat += g(j) * xhat(j);
        for (int j = 0; j < width; ++j) {
            dx[r * width + j] =
                __float2bfloat16(in.rstd[r] * (g(j) - sum / width - xhat(j) * sum_xhat / width));
            dgamma[j] = __float2bfloat16(__bfloat162float(dgamma[j]) + dy(j) * xhat(j));
            dbeta[j] = __float2bfloat16(__bfloat162float(dbeta[j]) + dy(j));
        }
    }
}

void launch_norm_backward(const NormBackward& call) {
    const Cotangents in{call.dy.as<const __nv_bfloat16>(), call.x.as<const __nv_bfloat16>(),
                        call.gamma.as<const __nv_bfloat16>(), call.mean.as<const float>(),
                        call.rstd.as<const float>()};
    sums_in_outputs<<<1, 1, 0, call.launch.stream>>>(
        in, call.dx.as<__nv_bfloat16>(), call.dgamma.as<__nv_bfloat16>(),
        call.dbeta.as<__nv_bfloat16>(), static_cast<int>(call.rows), static_cast<int>(call.width));
}

// What the launcher reads is not what the registration says.
void launch_as_float(const GradWeight& call) { call.dy.as<const float>(); }

}  // namespace

GRADVERIFY_KERNEL(GradWeight, "bug_f16_sums_in_half", launch_correlate<SumsInHalf>)
    .storage(DType::f16);
GRADVERIFY_KERNEL(GradWeight, "bug_f16_rounds_products", launch_correlate<RoundsProducts>)
    .storage(DType::f16);
GRADVERIFY_KERNEL(GradWeight, "bug_f16_through_integer", launch_correlate<ThroughInteger>)
    .storage(DType::f16);
GRADVERIFY_KERNEL(GradWeight, "bug_f16_taken_for_bf16", launch_correlate<TakenForBfloat16>)
    .storage(DType::f16);
GRADVERIFY_KERNEL(GradWeight, "bug_f16_read_as_float", launch_as_float).storage(DType::f16);
GRADVERIFY_KERNEL(GradWeight, "bug_bf16_truncates", launch_correlate<Truncates>)
    .storage(DType::bf16);
GRADVERIFY_KERNEL(GradWeight, "bug_f64_sums_in_float", launch_correlate<SumsInFloat>)
    .storage(DType::f64);
// The same kernel, of which nothing more is asked: right.
GRADVERIFY_KERNEL(GradWeight, "right_f16_sums_in_half", launch_correlate<SumsInHalf>)
    .storage(DType::f16)
    .accumulates_in(DType::f16);
GRADVERIFY_KERNEL(GradWeight, "right_f64_sums_in_float", launch_correlate<SumsInFloat>)
    .storage(DType::f64)
    .accumulates_in(DType::f32);
GRADVERIFY_KERNEL(Forward, "bug_f16_bias_added_to_half", launch_forward).storage(DType::f16);
GRADVERIFY_KERNEL(NormForward, "bug_bf16_rounded_mean", launch_norm_forward).storage(DType::bf16);
GRADVERIFY_KERNEL(NormBackward, "bug_bf16_sums_in_outputs", launch_norm_backward)
    .storage(DType::bf16);
