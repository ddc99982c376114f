// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of relu.
#include "properties/tests/launches.cuh"
#include "reference/relu.hpp"

namespace {

using gradverify::relu::Forward;
using gradverify::relu::GradInput;

__device__ void copy(int i, const float* from, float* to) { to[i] = from[i]; }

__device__ void clear_where_negative(int i, const float* x, float* dx) {
    if (!(x[i] > 0.0f)) dx[i] = 0.0f;
}

// A11: the second pass reads x, which is dy by now where dx lies in its place.
void two_passes(const GradInput& call) {
    launch_each<copy>(call.launch, call.n, call.dy, call.dx);
    launch_each<clear_where_negative>(call.launch, call.n, call.x, call.dx);
}

// Lets the cotangent pass at zero, where the forward pass has cut off.
__device__ void mask_from_zero(int i, const float* dy, const float* x, float* dx) {
    dx[i] = x[i] >= 0.0f ? dy[i] : 0.0f;
}

void launch_mask_from_zero(const GradInput& call) {
    launch_each<mask_from_zero>(call.launch, call.n, call.dy, call.x, call.dx);
}

// fmaxf drops a NaN.
__device__ void maximum(int i, const float* x, float* y) { y[i] = fmaxf(x[i], 0.0f); }

__device__ float rectified(float x) { return x <= 0.0f ? 0.0f : x; }

__device__ void four_each(int i, const float4* x, float4* y) {
    const float4 of = x[i];
    y[i] = make_float4(rectified(of.x), rectified(of.y), rectified(of.z), rectified(of.w));
}

void launch_maximum(const Forward& call) {
    launch_each<maximum>(call.launch, call.n, call.x, call.y);
}

// Takes four at a time where the length allows it, whatever the alignment.
void float4_by_length(const Forward& call) {
    if (call.n % 4 == 0) {
        launch_each<four_each>(call.launch, call.n / 4,
                               reinterpret_cast<const float4*>(call.x.as<const float>()),
                               reinterpret_cast<float4*>(call.y.as<float>()));
    } else {
        launch_each<copy>(call.launch, call.n, call.x, call.y);
        launch_each<clear_where_negative>(call.launch, call.n, call.x, call.y);
    }
}

}  // namespace

GRADVERIFY_KERNEL(GradInput, "bug_a11_two_passes", two_passes).in_place("dx", "x");
GRADVERIFY_KERNEL(GradInput, "bug_mask_from_zero", launch_mask_from_zero);
GRADVERIFY_KERNEL(Forward, "bug_loses_nan", launch_maximum);
GRADVERIFY_KERNEL(Forward, "bug_float4_by_length", float4_by_length).aligned_to(sizeof(float));
