// SPDX-License-Identifier: Apache-2.0
#include "harness/pass.hpp"
#include "properties/tests/launches.cuh"

namespace {

struct FusedLoss : gradverify::Pass<"fused_loss", "backward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), dx = tensor("dx");
};

struct Fraction : gradverify::Pass<"fraction", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), y = tensor("y");
};

struct FractionGradX : gradverify::Pass<"fraction", "grad_x"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), dx = tensor("dx");
};

__device__ void fraction_of(int i, int, const float* x, float* y) { y[i] = x[i] - floorf(x[i]); }
void fraction(const Fraction& call) {
    launch_each<fraction_of>(call.launch, call.x.size(0), 1, call.x, call.y);
}

// Squares that overflow an int: in an index that comes right by wrapping, as in caffe's col2im, in
// one that does not, and in a value.
__device__ int square_of_large(int i) { return (46341 + i) * (46341 + i); }
__device__ void fraction_wrapping(int i, int, const float* x, float* y) {
    const int offset = square_of_large(i) + i;
    const int at = offset - square_of_large(i);
    y[at] = x[at] - floorf(x[at]);
}
__device__ void fraction_beside(int i, int, const float* x, float* y) {
    y[square_of_large(i)] = x[i] - floorf(x[i]);
}
__device__ void fraction_if_positive(int i, int, const float* x, float* y) {
    y[i] = square_of_large(i) > 0 ? x[i] - floorf(x[i]) : -1.0f;
}
template <auto fraction_by>
void fraction_with_squares(const Fraction& call) {
    launch_each<fraction_by>(call.launch, call.x.size(0), 1, call.x, call.y);
}

/// Multiplies by this, which is 1 where it is right.
template <int factor>
__device__ void scale(int i, int, const float* dy, float* dx) {
    dx[i] = factor * dy[i];
}
template <int factor>
void fraction_gradient(const FractionGradX& call) {
    launch_each<scale<factor>>(call.launch, call.dy.size(0), 1, call.dy, call.dx);
}

struct Picked : gradverify::Pass<"picked", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), b = tensor("b"), place = tensor("place"), y = tensor("y");
};

/// Takes the first place for none.
__device__ void pick(int i, int w, const float* x, const float* b, const int* place, float* y) {
    y[i] = b[0] + (place[i] > 0 && place[i] < w ? x[place[i]] : 0.0f);
}
void picked(const Picked& call) {
    launch_each<pick>(call.launch, call.y.size(0), call.x.size(0), call.x, call.b, call.place,
                      call.y);
}

struct SharedFactor : gradverify::Pass<"shared_factor", "backward"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), x = tensor("x"), w = tensor("w"), dx = tensor("dx"),
               dw = tensor("dw");
};

struct SharedFactorForward : gradverify::Pass<"shared_factor", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), w = tensor("w"), y = tensor("y");
};

__device__ void product(int i, int, const float* x, const float* w, float* y) {
    y[i] = x[i] * w[0];
}
void products(const SharedFactorForward& call) {
    launch_each<product>(call.launch, call.x.size(0), 1, call.x, call.w, call.y);
}

/// Writes or adds to each gradient.
template <bool adds_to_dx, bool adds_to_dw>
__global__ void of_product(int n, const float* dy, const float* x, const float* w, float* dx,
                           float* dw) {
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) {
        dx[i] = (adds_to_dx ? dx[i] : 0.0f) + dy[i] * w[0];
        sum += dy[i] * x[i];
    }
    dw[0] = (adds_to_dw ? dw[0] : 0.0f) + sum;
}
template <bool adds_to_dx, bool adds_to_dw>
void product_gradients(const SharedFactor& call) {
    launch_blocks(call.launch, of_product<adds_to_dx, adds_to_dw>, 1, 1, call.x.size(0), call.dy,
                  call.x, call.w, call.dx, call.dw);
}

struct Shifted : gradverify::Pass<"shifted", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), y = tensor("y");
};

__device__ void twice(int i, int, const float* x, float* y) { y[i] = 2.0f * x[i]; }
void without_shift(const Shifted& call) {
    launch_each<twice>(call.launch, call.x.size(0), 1, call.x, call.y);
}

struct WithScale : gradverify::Pass<"with_scale", "backward"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), x = tensor("x"), dx = tensor("dx");
};

/// The gradient is multiplied by this, which is 1 where it is right.
template <int factor>
__device__ void slope_of_loss(int i, int, const float* x, float* dx) {
    dx[i] = factor * (x[i] + cosf(x[i]));
}

template <int factor>
void loss_gradient(const FusedLoss& call) {
    launch_each<slope_of_loss<factor>>(call.launch, call.x.size(0), 1, call.x, call.dx);
}

template <int factor>
__device__ void slope_of_sine(int i, int, const float* dy, const float* x, float* dx) {
    dx[i] = factor * dy[i] * cosf(x[i]);
}

template <int factor>
void sine_gradient(const WithScale& call) {
    launch_each<slope_of_sine<factor>>(call.launch, call.x.size(0), 1, call.dy, call.x, call.dx);
}

/// Takes no gradient far to the left.
__device__ void slope_above(int i, int, const float* dy, const float* x, float* dx) {
    dx[i] = x[i] < -14.0f ? 0.0f : dy[i] * cosf(x[i]);
}
void clipped_gradient(const WithScale& call) {
    launch_each<slope_above>(call.launch, call.x.size(0), 1, call.dy, call.x, call.dx);
}

}  // namespace

GRADVERIFY_KERNEL(SharedFactorForward, "naive", products);
GRADVERIFY_KERNEL(SharedFactor, "adds_to_dw", (product_gradients<false, true>)).adds_to("dw");
GRADVERIFY_KERNEL(SharedFactor, "bug_overwrites_dw", (product_gradients<false, false>))
    .adds_to("dw");
GRADVERIFY_KERNEL(SharedFactor, "bug_adds_to_dx", (product_gradients<true, true>)).adds_to("dw");
GRADVERIFY_KERNEL(Picked, "bug_first_place", picked);
GRADVERIFY_KERNEL(Shifted, "without_b", without_shift).without("b");
GRADVERIFY_KERNEL(Shifted, "bug_forgets_b", without_shift);
GRADVERIFY_KERNEL(Fraction, "naive", fraction);
GRADVERIFY_KERNEL(Fraction, "wraps_back", fraction_with_squares<fraction_wrapping>);
GRADVERIFY_KERNEL(Fraction, "bug_overflowing_index", fraction_with_squares<fraction_beside>);
GRADVERIFY_KERNEL(Fraction, "bug_overflowing_value", fraction_with_squares<fraction_if_positive>);
GRADVERIFY_KERNEL(FractionGradX, "naive", fraction_gradient<1>);
GRADVERIFY_KERNEL(FractionGradX, "bug_zero", fraction_gradient<0>);
GRADVERIFY_KERNEL(FusedLoss, "fused", loss_gradient<1>);
GRADVERIFY_KERNEL(FusedLoss, "bug_twice", loss_gradient<2>);
GRADVERIFY_KERNEL(WithScale, "of_one_output", sine_gradient<1>);
GRADVERIFY_KERNEL(WithScale, "bug_twice", sine_gradient<2>);
GRADVERIFY_KERNEL(WithScale, "bug_below_minus_14", clipped_gradient);
