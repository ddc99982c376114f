// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>

#include "properties/tests/launches.cuh"

namespace {

using gradverify::launch_rows;
using gradverify::Pass;
using FusedLoss = Pass<"fused_loss", "backward">;
using Fraction = Pass<"fraction", "forward">;
using FractionGradX = Pass<"fraction", "grad_x">;
using SharedFactorForward = Pass<"shared_factor", "forward">;
using Shifted = Pass<"shifted", "forward">;
using WithScale = Pass<"with_scale", "backward">;

__device__ void fraction_of(int i, int, const float* x, float* y) { y[i] = x[i] - floorf(x[i]); }

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

/// To one neighbour or the other by 16 bits that are as good as random; behind those by mistake.
template <unsigned behind>
__device__ void fraction_at_random(int i, int, const float* x, __nv_bfloat16* y) {
    const unsigned bits = __float_as_uint(x[i] - floorf(x[i]));
    const unsigned random = (bits ^ i * 40503u) * 2654435761u >> 16;
    y[i] = __ushort_as_bfloat16(static_cast<unsigned short>((bits + random + behind) >> 16));
}

/// Multiplies by this, which is 1 where it is right.
template <int factor>
__device__ void scale(int i, int, const float* dy, float* dx) {
    dx[i] = factor * dy[i];
}

struct Picked : Pass<"picked", "forward"> {
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

struct SharedFactor : Pass<"shared_factor", "backward"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), x = tensor("x"), w = tensor("w"), dx = tensor("dx"),
               dw = tensor("dw");
};

__device__ void product(int i, int, const float* x, const float* w, float* y) {
    y[i] = x[i] * w[0];
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

__device__ void twice(int i, int, const float* x, float* y) { y[i] = 2.0f * x[i]; }

/// The gradient is multiplied by this, which is 1 where it is right.
template <int factor>
__device__ void slope_of_loss(int i, int, const float* x, float* dx) {
    dx[i] = factor * (x[i] + cosf(x[i]));
}

template <int factor>
__device__ void slope_of_sine(int i, int, const float* dy, const float* x, float* dx) {
    dx[i] = factor * dy[i] * cosf(x[i]);
}

/// Takes no gradient far to the left.
__device__ void slope_above(int i, int, const float* dy, const float* x, float* dx) {
    dx[i] = x[i] < -14.0f ? 0.0f : dy[i] * cosf(x[i]);
}

}  // namespace

GRADVERIFY_KERNEL(SharedFactorForward, "naive",
                  (launch_rows<SharedFactorForward, product, "x", "w", "y">));
GRADVERIFY_KERNEL(SharedFactor, "adds_to_dw", (product_gradients<false, true>)).adds_to("dw");
GRADVERIFY_KERNEL(SharedFactor, "bug_overwrites_dw", (product_gradients<false, false>))
    .adds_to("dw");
GRADVERIFY_KERNEL(SharedFactor, "bug_adds_to_dx", (product_gradients<true, true>)).adds_to("dw");
GRADVERIFY_KERNEL(Picked, "bug_first_place", picked);
GRADVERIFY_KERNEL(Shifted, "without_b", (launch_rows<Shifted, twice, "x", "y">)).without("b");
GRADVERIFY_KERNEL(Shifted, "bug_forgets_b", (launch_rows<Shifted, twice, "x", "y">));
#define FRACTION(VARIANT, FUNCTION) \
    GRADVERIFY_KERNEL(Fraction, VARIANT, (launch_rows<Fraction, FUNCTION, "x", "y">))
FRACTION("naive", fraction_of);
FRACTION("wraps_back", fraction_wrapping);
FRACTION("bug_overflowing_index", fraction_beside);
FRACTION("bug_overflowing_value", fraction_if_positive);
FRACTION("at_random", fraction_at_random<0>)
    .storage("y", gradverify::DType::bf16)
    .rounds_stochastically("y");
FRACTION("bug_undeclared_at_random", fraction_at_random<0>).storage("y", gradverify::DType::bf16);
FRACTION("bug_behind_random", fraction_at_random<0x10000>)
    .storage("y", gradverify::DType::bf16)
    .rounds_stochastically("y");
GRADVERIFY_KERNEL(FractionGradX, "naive", (launch_rows<FractionGradX, scale<1>, "dy", "dx">));
GRADVERIFY_KERNEL(FractionGradX, "bug_zero", (launch_rows<FractionGradX, scale<0>, "dy", "dx">));
GRADVERIFY_KERNEL(FusedLoss, "fused", (launch_rows<FusedLoss, slope_of_loss<1>, "x", "dx">));
GRADVERIFY_KERNEL(FusedLoss, "bug_twice", (launch_rows<FusedLoss, slope_of_loss<2>, "x", "dx">));
#define WITH_SCALE(VARIANT, FUNCTION) \
    GRADVERIFY_KERNEL(WithScale, VARIANT, (launch_rows<WithScale, FUNCTION, "dy", "x", "dx">))
WITH_SCALE("of_one_output", slope_of_sine<1>);
WITH_SCALE("bug_twice", slope_of_sine<2>);
WITH_SCALE("bug_below_minus_14", slope_above);
