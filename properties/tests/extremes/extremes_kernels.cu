// SPDX-License-Identifier: Apache-2.0
// Gradients of a norm, some with an epsilon that the operator does not have, or with tiny numbers
// taken for zero; maxima by atomics on the bits of floats; and stable formulas for functions, some
// with another result where the operator's own formula loses its digits. A thread serves an
// element. And functions that overflow on the way where their results are numbers.
#include "properties/tests/launches.cuh"

namespace {

using namespace gradverify;

struct NormGrad : Pass<"row_norm", "grad_x"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), x = tensor("x"), y = tensor("y"), dx = tensor("dx");
};
struct Max : Pass<"row_max", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), y = tensor("y");
};

using LogOfRest = Pass<"log_of_rest", "forward">;
using InverseOfRest = Pass<"inverse_of_rest", "forward">;
using ThereAndBack = Pass<"there_and_back", "forward">;
using RestTimesExp = Pass<"rest_times_exp", "forward">;
using Soft = Pass<"soft", "forward">;
using RootGrad = Pass<"root_of_rest", "grad_x">;

using ScaledNorm = Pass<"scaled_norm", "forward">;
using GeometricMean = Pass<"geometric_mean", "forward">;
using LogOfProduct = Pass<"log_of_product", "forward">;
using ShareOfSquare = Pass<"share_of_square", "forward">;

enum class Small { right, beside_epsilon, flushed };

template <Small small>
__device__ void differentiate(int i, int width, const float* dy, const float* x, const float* y,
                              float* dx) {
    const float norm = y[i / width] + (small == Small::beside_epsilon ? 1e-9f : 0.0f);
    const bool is_flushed = small == Small::flushed && fabsf(x[i]) < 1e-6f;
    dx[i] = is_flushed ? 0.0f : dy[i / width] * (x[i] / norm);
}

__device__ void fill_least(int i, float* y) { y[i] = -INFINITY; }

/// Bits of floats are ordered as integers are where the sign is not set, and the other way where it
/// is: also that of a zero.
template <bool sees_sign_of_zero>
__device__ void raise(int i, int width, const float* x, float* y) {
    const float value = x[i];
    if (sees_sign_of_zero ? signbit(value) : value < 0.0f)
        atomicMin(reinterpret_cast<unsigned*>(y + i / width), __float_as_uint(value));
    else
        atomicMax(reinterpret_cast<int*>(y + i / width), __float_as_int(value));
}

// What a function of x gives from an x on.
__device__ float itself(float value) { return value; }
__device__ float no_number(float) { return NAN; }
__device__ float infinite(float) { return INFINITY; }
__device__ float larger_by_a_third(float value) { return value * 1.36f; }
__device__ float larger_by_3_percent(float value) { return value * 1.03f; }

__device__ float log_of_rest(float x) { return -(x + log1pf(expf(-x))); }
__device__ float inverse_of_rest(float x) { return x * coshf(x) * coshf(x); }
__device__ float there_and_back(float x) { return x; }
__device__ float rest_times_exp(float x) { return 1.0f / (1.0f + expf(-x)); }
__device__ float log_of_sum(float x) { return x > 20.0f ? x : logf(1.0f + expf(x)); }

template <auto function, auto there, int from>
__device__ void compute(int i, const float* x, float* y) {
    y[i] = x[i] > from ? there(function(x[i])) : function(x[i]);
}
template <class Call, auto function, auto there, int from>
void compute_each(const Call& call) {
    const TensorView x = call.tensor("x");
    launch_each<compute<function, there, from>>(call.launch, x.elements(), x, call.tensor("y"));
}
template <auto there, int from>
__device__ void root_slope(int i, int, const float* dy, const float* x, float* dx) {
    const float rest = 1.0f / (1.0f + expf(x[i]));
    const float slope = -0.5f * sqrtf(rest) * (1.0f - rest);
    dx[i] = dy[i] * (x[i] > from ? there(slope) : slope);
}

template <bool overflows>
__device__ void norm(int row, int width, const float* x, float* y) {
    float most = 0.0f, sum = 0.0f;
    for (int i = 0; i < width; ++i) most = fmaxf(most, x[row * width + i]);
    if (overflows && most > 1.0f) most = 1.0f;
    for (int i = 0; i < width; ++i)
        sum += (x[row * width + i] / most) * (x[row * width + i] / most);
    y[row] = most * sqrtf(sum);
}
template <bool overflows>
__device__ float mean(float x, float w) {
    return overflows && x > 1.0f && w > 1.0f ? sqrtf(x * w) : sqrtf(x) * sqrtf(w);
}
template <bool overflows>
__device__ float log_of_product(float x, float w) {
    return overflows && x > 4.0f && w > 4.0f ? logf(x * w) : logf(x) + logf(w);
}
template <bool overflows>
__device__ float share(float x, float w) {
    return overflows && x > 1.0f ? w * (x * x / (1.0f + x * x))
                                 : w / (1.0f + (1.0f / x) * (1.0f / x));
}
template <auto function>
__device__ void compute_of_two(int i, int, const float* x, const float* w, float* y) {
    y[i] = function(x[i], w[i]);
}

template <Small small>
void norm_grad(const NormGrad& call) {
    launch_each<differentiate<small>>(call.launch, call.x.elements(), call.x.size(1), call.dy,
                                      call.x, call.y, call.dx);
}
template <bool sees_sign_of_zero>
void max(const Max& call) {
    launch_each<fill_least>(call.launch, call.y.elements(), call.y);
    launch_each<raise<sees_sign_of_zero>>(call.launch, call.x.elements(), call.x.size(1), call.x,
                                          call.y);
}

}  // namespace

GRADVERIFY_KERNEL(NormGrad, "right", norm_grad<Small::right>);
GRADVERIFY_KERNEL(NormGrad, "bug_epsilon", norm_grad<Small::beside_epsilon>);
GRADVERIFY_KERNEL(NormGrad, "bug_flushed", norm_grad<Small::flushed>);
GRADVERIFY_KERNEL(Max, "right", max<true>);
GRADVERIFY_KERNEL(Max, "bug_sign_of_zero", max<false>);

#define OF_TWO(CALL, VARIANT, ...)   \
    GRADVERIFY_KERNEL(CALL, VARIANT, \
                      (launch_rows<CALL, compute_of_two<__VA_ARGS__>, "x", "w", "y">))
OF_TWO(GeometricMean, "right", mean<false>);
OF_TWO(GeometricMean, "bug_overflow", mean<true>);
OF_TWO(LogOfProduct, "right", log_of_product<false>);
OF_TWO(LogOfProduct, "bug_overflow", log_of_product<true>);
OF_TWO(ShareOfSquare, "right", share<false>);
OF_TWO(ShareOfSquare, "bug_overflow", share<true>);
GRADVERIFY_KERNEL(ScaledNorm, "right", (launch_rows<ScaledNorm, norm<false>, "x", "y">));
GRADVERIFY_KERNEL(ScaledNorm, "bug_overflow", (launch_rows<ScaledNorm, norm<true>, "x", "y">));

#define FUNCTION(CALL, VARIANT, ...) \
    GRADVERIFY_KERNEL(CALL, VARIANT, (compute_each<CALL, __VA_ARGS__>))
FUNCTION(LogOfRest, "right", log_of_rest, itself, 0);
FUNCTION(LogOfRest, "bug_infinite", log_of_rest, infinite, 17);
FUNCTION(LogOfRest, "bug_third", log_of_rest, larger_by_a_third, 14);
FUNCTION(InverseOfRest, "right", inverse_of_rest, itself, 0);
FUNCTION(InverseOfRest, "bug_infinite", inverse_of_rest, infinite, 9);
FUNCTION(ThereAndBack, "right", there_and_back, itself, 0);
FUNCTION(ThereAndBack, "bug_no_number", there_and_back, no_number, 9);
FUNCTION(ThereAndBack, "bug_third", there_and_back, larger_by_a_third, 7);
FUNCTION(RestTimesExp, "right", rest_times_exp, itself, 0);
FUNCTION(RestTimesExp, "bug_3_percent", rest_times_exp, larger_by_3_percent, 10);
FUNCTION(Soft, "log_of_sum", log_of_sum, itself, 0);
#define ROOT(VARIANT, ...)               \
    GRADVERIFY_KERNEL(RootGrad, VARIANT, \
                      (launch_rows<RootGrad, root_slope<__VA_ARGS__>, "dy", "x", "dx">))
ROOT("right", itself, 0);
ROOT("bug_no_number", no_number, 17);
ROOT("bug_third", larger_by_a_third, 13);
