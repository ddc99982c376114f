// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of relu.
#include "properties/tests/launches.cuh"
#include "reference/relu.hpp"

namespace {

using gradverify::relu::Forward;
using gradverify::relu::GradInput;

__global__ void copy(const float* from, float* to, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

__global__ void clear_where_negative(const float* x, float* dx, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && !(x[i] > 0.0f)) dx[i] = 0.0f;
}

// A11: the second pass reads x, which is dy by now where dx lies in its place.
void two_passes(const GradInput& call) {
    launch_threads(call.launch, copy, call.n, call.dy, call.dx, call.n);
    launch_threads(call.launch, clear_where_negative, call.n, call.x, call.dx, call.n);
}

// Lets the cotangent pass at zero, where the forward pass has cut off.
__global__ void mask_from_zero(const float* dy, const float* x, float* dx, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[i] = x[i] >= 0.0f ? dy[i] : 0.0f;
}

void launch_mask_from_zero(const GradInput& call) {
    launch_threads(call.launch, mask_from_zero, call.n, call.dy, call.x, call.dx, call.n);
}

// fmaxf has no use for a NaN.
__global__ void maximum(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

__device__ float rectified(float x) { return x <= 0.0f ? 0.0f : x; }

__global__ void four_each(const float4* x, float4* y, int quarters) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quarters) return;
    const float4 of = x[i];
    y[i] = make_float4(rectified(of.x), rectified(of.y), rectified(of.z), rectified(of.w));
}

void launch_maximum(const Forward& call) {
    launch_threads(call.launch, maximum, call.n, call.x, call.y, call.n);
}

// Takes four at a time where the length allows it, wherever the tensors begin.
void float4_by_length(const Forward& call) {
    if (call.n % 4 == 0) {
        launch_threads(call.launch, four_each, call.n / 4,
                       reinterpret_cast<const float4*>(call.x.as<const float>()),
                       reinterpret_cast<float4*>(call.y.as<float>()), call.n / 4);
    } else {
        launch_threads(call.launch, copy, call.n, call.x, call.y, call.n);
        launch_threads(call.launch, clear_where_negative, call.n, call.x, call.y, call.n);
    }
}

}  // namespace

GRADVERIFY_KERNEL(GradInput, "bug_a11_two_passes", two_passes).in_place("dx", "x");
GRADVERIFY_KERNEL(GradInput, "bug_mask_from_zero", launch_mask_from_zero);
GRADVERIFY_KERNEL(Forward, "bug_loses_nan", launch_maximum);
GRADVERIFY_KERNEL(Forward, "bug_float4_by_length", float4_by_length).aligned_to(sizeof(float));
