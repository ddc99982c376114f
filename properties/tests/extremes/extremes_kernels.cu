// SPDX-License-Identifier: Apache-2.0
// Gradients of a norm, some with an epsilon that the operator does not have, or with tiny numbers
// taken for zero; and maxima by atomics on the bits of floats. A thread serves an element.
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
