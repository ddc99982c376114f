// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of floats of 8 bits: formats, sums in less than float, ends of the range, rounding.
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "properties/tests/launches.cuh"
#include "properties/tests/seeded_bugs/plain_conv.cuh"
#include "reference/layer_norm.hpp"
#include "reference/relu.hpp"

namespace {

using namespace gradverify::plain_conv;
using gradverify::DType;
using e4m3 = __nv_fp8_e4m3;
using e5m2 = __nv_fp8_e5m2;

template <class T>
__device__ T of_bits(__nv_fp8_storage_t bits) {
    T number;
    number.__x = bits;
    return number;
}

struct Right : RightConv {
    template <class T>
    __device__ static float wide(T number) {
        return static_cast<float>(number);
    }
    __device__ void store(float& result) const { result = sum; }
    __device__ void store(e4m3& result) const { result = e4m3(sum); }
};
struct ReadsE4m3AsE5m2 : Right {
    __device__ static float wide(e4m3 number) {
        return static_cast<float>(of_bits<e5m2>(number.__x));
    }
    __device__ static float wide(e5m2 number) { return static_cast<float>(number); }
};
struct SumsInHalf : Right {
    __device__ void add(float a, float b) {
        sum = __half2float(__float2half(sum + __half2float(__float2half(a * b))));
    }
};
struct SumsInE4m3 : Right {
    __device__ void add(float a, float b) { sum = static_cast<float>(e4m3(sum + a * b)); }
};
struct SaturatesSums : Right {
    __device__ void add(float a, float b) { sum = fminf(fmaxf(sum + a * b, -448.0f), 448.0f); }
};
struct Truncates : Right {
    __device__ void store(e4m3& result) const {
        result = e4m3(sum);
        const bool is_beyond = fabsf(static_cast<float>(result)) > fabsf(sum);
        if (is_beyond) result.__x = static_cast<__nv_fp8_storage_t>(result.__x - 1);
    }
};
// Stores NaN for what is too large.
struct GivesNan : Right {
    __device__ void store(e4m3& result) const {
        result = of_bits<e4m3>(__nv_cvt_float_to_fp8(sum, __NV_NOSAT, __NV_E4M3));
    }
};
// Stores NaN for the largest number too, which is inside the range.
struct GivesNanForLargest : Right {
    __device__ void store(e4m3& result) const {
        result = fabsf(sum) == 448.0f ? of_bits<e4m3>(0x7f) : e4m3(sum);
    }
};
// What is smaller than the smallest normal number is taken for 0.
struct FlushesSmallest : Right {
    __device__ static float wide(e4m3 number) {
        return (number.__x & 0x78) == 0 ? 0.0f : static_cast<float>(number);
    }
    __device__ static float wide(float number) { return number; }
};
// The largest exponent is taken for infinity, as IEEE's formats have it.
struct LargestIsInfinite : Right {
    __device__ static float wide(e4m3 number) {
        return (number.__x & 0x78) == 0x78 ? INFINITY : static_cast<float>(number);
    }
    __device__ static float wide(float number) { return number; }
};

// Right: sums of many integers, stored in a type that has few.
__device__ void sum_channels(long long c, const float* dy, e5m2* db, int n, int k, int pixels) {
    float sum = 0.0f;
    for (int i = 0; i < n * pixels; ++i) sum += dy[(i / pixels * k + c) * pixels + i % pixels];
    db[c] = e5m2(sum);
}
void launch_sums(const GradBias& call) {
    launch_each<sum_channels>(call.launch, call.problem.k, call.dy, call.db, call.problem.n,
                              call.problem.k, call.dy.size(2) * call.dy.size(3));
}

// Right: a small gradient is stored as 0, and one beyond 448 as 448 or NaN.
template <__nv_saturation_t saturation>
__global__ void normalise_backward(const float* all_dy, const float* x, const float* gamma,
                                   const float* mean, const float* rstd, e4m3* dx, float* dgamma,
                                   float* dbeta, int rows, int width) {
    if (blockIdx.x + threadIdx.x > 0) return;
    for (int j = 0; j < width; ++j) dgamma[j] = dbeta[j] = 0.0f;
    for (int r = 0; r < rows; ++r) {
        const auto dy = [&](int j) { return all_dy[r * width + j]; };
        const auto xhat = [&](int j) { return (x[r * width + j] - mean[r]) * rstd[r]; };
        float sum = 0.0f, sum_xhat = 0.0f;
        for (int j = 0; j < width; ++j) {
            sum += dy(j) * gamma[j], sum_xhat += dy(j) * gamma[j] * xhat(j);
            dgamma[j] += dy(j) * xhat(j), dbeta[j] += dy(j);
        }
        for (int j = 0; j < width; ++j)
            dx[r * width + j] = of_bits<e4m3>(__nv_cvt_float_to_fp8(
                rstd[r] * (dy(j) * gamma[j] - sum / width - xhat(j) * (sum_xhat / width)),
                saturation, __NV_E4M3));
    }
}
template <__nv_saturation_t saturation>
void launch_normalise(const gradverify::layer_norm::Backward& call) {
    launch_blocks(call.launch, normalise_backward<saturation>, 1, 1, call.dy, call.x, call.gamma,
                  call.mean, call.rstd, call.dx, call.dgamma, call.dbeta, call.rows, call.width);
}

// Infinities stay, or saturate.
template <__nv_saturation_t saturation>
__device__ void rectify(long long i, const float* x, e5m2* y) {
    y[i] = of_bits<e5m2>(__nv_cvt_float_to_fp8(x[i] <= 0.0f ? 0.0f : x[i], saturation, __NV_E5M2));
}
template <__nv_saturation_t saturation>
void launch_rectify(const gradverify::relu::Forward& call) {
    launch_each<rectify<saturation>>(call.launch, call.n, call.x, call.y);
}

}  // namespace

GRADVERIFY_KERNEL(GradBias, "right_f8_sums", launch_sums).storage("db", DType::f8e5m2);
GRADVERIFY_KERNEL(gradverify::layer_norm::Backward, "right_f8_dx", launch_normalise<__NV_SATFINITE>)
    .storage("dx", DType::f8e4m3);
GRADVERIFY_KERNEL(gradverify::layer_norm::Backward, "right_f8_dx_nan", launch_normalise<__NV_NOSAT>)
    .storage("dx", DType::f8e4m3);
GRADVERIFY_KERNEL(gradverify::relu::Forward, "right_f8_inf_lost", launch_rectify<__NV_SATFINITE>)
    .storage("y", DType::f8e5m2);
GRADVERIFY_KERNEL(gradverify::relu::Forward, "right_f8_inf_kept", launch_rectify<__NV_NOSAT>)
    .storage("y", DType::f8e5m2);
GRADVERIFY_KERNEL(gradverify::relu::Forward, "right_f8_saturates", launch_rectify<__NV_SATFINITE>)
    .storage("y", DType::f8e5m2)
    .saturates();
GRADVERIFY_KERNEL(gradverify::relu::Forward, "bug_f8_inf_kept", launch_rectify<__NV_NOSAT>)
    .storage("y", DType::f8e5m2)
    .saturates();

// Factors of 8 bits whose sums are floats.
#define OF_FACTORS(VARIANT, POLICY)                                            \
    GRADVERIFY_KERNEL(Forward, VARIANT, (launch_forward<POLICY, e4m3, float>)) \
        .storage("x", DType::f8e4m3)                                           \
        .storage("w", DType::f8e4m3)
OF_FACTORS("bug_f8_saturates_sums", SaturatesSums);
OF_FACTORS("bug_f8_flushes_smallest", FlushesSmallest);
OF_FACTORS("bug_f8_largest_is_infinite", LargestIsInfinite);
#define OF_BOTH_FORMATS(VARIANT, POLICY)                                                    \
    GRADVERIFY_KERNEL(GradWeight, VARIANT, (launch_grad_weight<POLICY, e5m2, e4m3, float>)) \
        .storage("dy", DType::f8e5m2)                                                       \
        .storage("x", DType::f8e4m3)
OF_BOTH_FORMATS("bug_f8_e4m3_read_as_e5m2", ReadsE4m3AsE5m2);
OF_BOTH_FORMATS("bug_f8_sums_in_half", SumsInHalf);

#define OF_8_BITS(VARIANT, POLICY) \
    GRADVERIFY_KERNEL(Forward, VARIANT, (launch_forward<POLICY, e4m3>)).storage(DType::f8e4m3)
OF_8_BITS("right_f8_sums_in_half", SumsInHalf).accumulates_in(DType::f16).saturates();
OF_8_BITS("bug_f8_sums_in_e4m3", SumsInE4m3);
OF_8_BITS("bug_f8_truncates", Truncates);
OF_8_BITS("right_f8_nan", GivesNan);
OF_8_BITS("bug_f8_nan_beyond", GivesNan).saturates();
OF_8_BITS("bug_f8_largest_is_nan", GivesNanForLargest).saturates();
