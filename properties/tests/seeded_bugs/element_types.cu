// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of element types: each computes or stores in less than it declares.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "properties/tests/launches.cuh"
#include "properties/tests/seeded_bugs/plain_conv.cuh"
#include "reference/layer_norm.hpp"

namespace {

using namespace gradverify::plain_conv;
using gradverify::DType;
using NormBackward = gradverify::layer_norm::Backward;
using NormForward = gradverify::layer_norm::Forward;

struct SumsInHalf : RightConv {
    __half sum = __float2half(0.0f);
    __device__ void add(__half dy, __half x) { sum = __hadd(sum, __hmul(dy, x)); }
    __device__ void store(__half& dw) const { dw = sum; }
};
struct RoundsProducts : RightConv {
    __device__ void add(__half dy, __half x) { sum += __half2float(__hmul(dy, x)); }
    __device__ void store(__half& dw) const { dw = __float2half(sum); }
};
struct RightInHalf : RightConv {
    __device__ void add(__half dy, __half x) { sum += __half2float(dy) * __half2float(x); }
};
struct ThroughInteger : RightInHalf {
    __device__ void store(__half& dw) const {
        dw = __float2half(static_cast<float>(static_cast<int>(sum)));
    }
};
// A half whose bits are taken for a bfloat16's: the same where it is 0.
struct TakenForBfloat16 : RightInHalf {
    __device__ void store(__half& dw) const {
        dw = __ushort_as_half(__bfloat16_as_ushort(__float2bfloat16(sum)));
    }
};
struct Truncates : RightConv {
    __device__ void add(__nv_bfloat16 dy, __nv_bfloat16 x) {
        sum += __bfloat162float(dy) * __bfloat162float(x);
    }
    __device__ void store(__nv_bfloat16& dw) const { dw = __float2bfloat16_rz(sum); }
};
struct SumsInFloat : RightConv {
    __device__ void add(double dy, double x) {
        sum += static_cast<float>(dy) * static_cast<float>(x);
    }
    __device__ void store(double& dw) const { dw = sum; }
};
// The sum of products is stored as a half, and the bias of the forward pass added to that.
struct BiasAddedToHalf : RightInHalf {
    __half bias;
    __device__ void begin(__half b) { bias = b; }
    __device__ void store(__half& y) const { y = __hadd(__float2half(sum), bias); }
};

__device__ float rounded(float value) { return __bfloat162float(__float2bfloat16(value)); }

/// Floats as three bfloat16: the pieces' products from the greatest on, of which six count.
template <int products>
struct InPieces : RightConv {
    __device__ static float piece(float number, int before) {
        for (; before > 0; --before) number -= rounded(number);
        return rounded(number);
    }
    __device__ void add(float dy, float x) {
        constexpr int of_dy[] = {0, 0, 1, 0, 2, 1}, of_x[] = {0, 1, 0, 2, 0, 1};
#pragma unroll
        for (int i = 0; i < products; ++i) sum += piece(dy, of_dy[i]) * piece(x, of_x[i]);
    }
};

// The mean is rounded before it is subtracted.
__device__ void normalise_by_rounded_mean(int r, const __nv_bfloat16* all_x,
                                          const __nv_bfloat16* gamma, const __nv_bfloat16* beta,
                                          __nv_bfloat16* y, float* means, float* rstds, int width,
                                          float eps) {
    const auto x = [&](int j) { return __bfloat162float(all_x[r * width + j]); };
    float sum = 0.0f, squares = 0.0f;
    for (int j = 0; j < width; ++j) sum += x(j);
    const float mean = sum / width;
    for (int j = 0; j < width; ++j) squares += (x(j) - mean) * (x(j) - mean);
    const float rstd = rsqrtf(squares / width + eps);
    for (int j = 0; j < width; ++j)
        y[r * width + j] = __float2bfloat16(
            (x(j) - rounded(mean)) * rstd * __bfloat162float(gamma[j]) + __bfloat162float(beta[j]));
    means[r] = mean, rstds[r] = rstd;
}

void launch_norm_forward(const NormForward& call) {
    launch_each<normalise_by_rounded_mean>(call.launch, call.rows, call.x, call.gamma, call.beta,
                                           call.y, call.mean, call.rstd, call.width, call.eps);
}

// dgamma and dbeta are added up in the memory that they are stored in.
__global__ void sums_in_outputs(const __nv_bfloat16* all_dy, const __nv_bfloat16* x,
                                const __nv_bfloat16* gamma, const float* mean, const float* rstd,
                                __nv_bfloat16* dx, __nv_bfloat16* dgamma, __nv_bfloat16* dbeta,
                                int rows, int width) {
    if (blockIdx.x + threadIdx.x > 0) return;
    for (int j = 0; j < width; ++j) dgamma[j] = dbeta[j] = __float2bfloat16(0.0f);
    for (int r = 0; r < rows; ++r) {
        const auto dy = [&](int j) { return __bfloat162float(all_dy[r * width + j]); };
        const auto g = [&](int j) { return dy(j) * __bfloat162float(gamma[j]); };
        const auto xhat = [&](int j) {
            return (__bfloat162float(x[r * width + j]) - mean[r]) * rstd[r];
        };
        float sum = 0.0f, sum_xhat = 0.0f;
        for (int j = 0; j < width; ++j) sum += g(j), sum_xhat += g(j) * xhat(j);
        for (int j = 0; j < width; ++j) {
            dx[r * width + j] =
                __float2bfloat16(rstd[r] * (g(j) - sum / width - xhat(j) * sum_xhat / width));
            dgamma[j] = __float2bfloat16(__bfloat162float(dgamma[j]) + dy(j) * xhat(j));
            dbeta[j] = __float2bfloat16(__bfloat162float(dbeta[j]) + dy(j));
        }
    }
}

void launch_norm_backward(const NormBackward& call) {
    launch_blocks(call.launch, sums_in_outputs, 1, 1, call.dy, call.x, call.gamma, call.mean,
                  call.rstd, call.dx, call.dgamma, call.dbeta, call.rows, call.width);
}

}  // namespace

#define SEEDED_BUG(VARIANT, POLICY, TYPE, DTYPE) \
    GRADVERIFY_KERNEL(GradWeight, VARIANT, (launch_grad_weight<POLICY, TYPE>)).storage(DTYPE)
SEEDED_BUG("bug_f16_sums_in_half", SumsInHalf, __half, DType::f16);
SEEDED_BUG("bug_f16_rounds_products", RoundsProducts, __half, DType::f16);
SEEDED_BUG("bug_f16_through_integer", ThroughInteger, __half, DType::f16);
SEEDED_BUG("bug_f16_taken_for_bf16", TakenForBfloat16, __half, DType::f16);
SEEDED_BUG("bug_bf16_truncates", Truncates, __nv_bfloat16, DType::bf16);
SEEDED_BUG("bug_f64_sums_in_float", SumsInFloat, double, DType::f64);
SEEDED_BUG("bug_bf16x6_five_products", InPieces<5>, float, DType::f32)
    .splits_factors({.products = 6, .digits = 24});
// Right: the same kernels, which promise no more than they do, or do it all.
SEEDED_BUG("right_f16_sums_in_half", SumsInHalf, __half, DType::f16).accumulates_in(DType::f16);
SEEDED_BUG("right_f64_sums_in_float", SumsInFloat, double, DType::f64).accumulates_in(DType::f32);
SEEDED_BUG("right_bf16x6", InPieces<6>, float, DType::f32)
    .splits_factors({.products = 6, .digits = 24});
GRADVERIFY_KERNEL(Forward, "bug_f16_bias_added_to_half", (launch_forward<BiasAddedToHalf, __half>))
    .storage(DType::f16);
GRADVERIFY_KERNEL(NormForward, "bug_bf16_rounded_mean", launch_norm_forward).storage(DType::bf16);
GRADVERIFY_KERNEL(NormBackward, "bug_bf16_sums_in_outputs", launch_norm_backward)
    .storage(DType::bf16);
