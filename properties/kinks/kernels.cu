// SPDX-License-Identifier: Apache-2.0
// Gradients of a ramp that differ at its kink. What is no derivative there is a bug; where the
// operator defines the gradient, so is every other value.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "properties/kinks/operator.hpp"

namespace {

using namespace gradverify::kinks;

template <int tenths>
__global__ void slope(const float* dy, const float* x, float* dx, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[i] = x[i] > 0.0f ? dy[i] : x[i] < 0.0f ? 0.0f : dy[i] * (tenths / 10.0f);
}

/// The slope at zero, in tenths.
template <class GradX, int tenths>
void launch(const GradX& call) {
    const int n = static_cast<int>(call.dx.elements());
    slope<tenths><<<(n + 63) / 64, 64, 0, call.launch.stream>>>(call.dy.template as<const float>(),
                                                                call.x.template as<const float>(),
                                                                call.dx.template as<float>(), n);
}

/// Where all three are alike the last gets it.
template <int factor>
__global__ void to_middle(const float* dy, const float* x, float* dx, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int low = x[3 * i] < x[3 * i + 1] ? 0 : 1, high = 1 - low;
    const float last = x[3 * i + 2];
    const int middle = last < x[3 * i + low] ? low : x[3 * i + high] < last ? high : 2;
    for (int j = 0; j < 3; ++j) dx[3 * i + j] = j == middle ? factor * dy[i] : 0.0f;
}

template <int factor>
void launch_median(const Median& call) {
    const int n = static_cast<int>(call.dy.elements());
    to_middle<factor><<<(n + 63) / 64, 64, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.x.as<const float>(), call.dx.as<float>(), n);
}

__global__ void multiply(const float* x, const float* w, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * w[i];
}

void launch_masked(const Masked& call) {
    const int n = static_cast<int>(call.y.elements());
    multiply<<<(n + 63) / 64, 64, 0, call.launch.stream>>>(
        call.x.as<const float>(), call.w.as<const float>(), call.y.as<float>(), n);
}

__global__ void divide(const float* a, const float* b, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] / b[i];
}

void launch_quotient(const Quotient& call) {
    const int n = static_cast<int>(call.y.elements());
    divide<<<(n + 63) / 64, 64, 0, call.launch.stream>>>(
        call.a.as<const float>(), call.b.as<const float>(), call.y.as<float>(), n);
}

template <int sign>
__global__ void divide_backward(const float* dy, const float* a, const float* b, float* da,
                                float* db, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    da[i] = dy[i] / b[i];
    db[i] = sign * dy[i] * a[i] / (b[i] * b[i]);
}

template <int sign>
void launch_quotient_backward(const QuotientBackward& call) {
    const int n = static_cast<int>(call.db.elements());
    divide_backward<sign><<<(n + 63) / 64, 64, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.a.as<const float>(), call.b.as<const float>(),
        call.da.as<float>(), call.db.as<float>(), n);
}

enum class Place { first, last, off_by_one };

template <Place place>
__global__ void find_largest(const float* x, float* y, float* at, int n, int c) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int best = 0;
    for (int j = 1; j < c; ++j) {
        const float one = x[i * c + j], other = x[i * c + best];
        if (place == Place::last ? one >= other : one > other) best = j;
    }
    y[i] = x[i * c + best];
    at[i] = static_cast<float>(place == Place::off_by_one ? best + 1 : best);
}

template <Place place>
void launch_largest(const Largest& call) {
    const int n = static_cast<int>(call.y.elements());
    find_largest<place><<<(n + 63) / 64, 64, 0, call.launch.stream>>>(
        call.x.as<const float>(), call.y.as<float>(), call.at.as<float>(), n,
        static_cast<int>(call.x.size(1)));
}

}  // namespace

GRADVERIFY_KERNEL(Largest, "first", launch_largest<Place::first>);
GRADVERIFY_KERNEL(Largest, "last", launch_largest<Place::last>);
GRADVERIFY_KERNEL(Largest, "bug_off_by_one", launch_largest<Place::off_by_one>);
GRADVERIFY_KERNEL(Quotient, "plain", launch_quotient);
GRADVERIFY_KERNEL(QuotientBackward, "plain", launch_quotient_backward<-1>);
GRADVERIFY_KERNEL(QuotientBackward, "bug_sign", launch_quotient_backward<1>);
GRADVERIFY_KERNEL(Masked, "plain", launch_masked);
GRADVERIFY_KERNEL(Median, "by_branches", launch_median<1>);
GRADVERIFY_KERNEL(Median, "bug_twice", launch_median<2>);
GRADVERIFY_KERNEL(Forgetful, "bug_no_fault_of_its_own", (launch<Forgetful, 0>));
GRADVERIFY_KERNEL(SlightlyForgetful, "bug_no_fault_of_its_own", (launch<SlightlyForgetful, 0>));
GRADVERIFY_KERNEL(ByMax, "zero", (launch<ByMax, 0>));
GRADVERIFY_KERNEL(ByMax, "half", (launch<ByMax, 5>));
GRADVERIFY_KERNEL(ByMax, "one", (launch<ByMax, 10>));
GRADVERIFY_KERNEL(ByMax, "bug_two", (launch<ByMax, 20>));
GRADVERIFY_KERNEL(ByBranch, "bug_two", (launch<ByBranch, 20>));
GRADVERIFY_KERNEL(ByDefinition, "zero", (launch<ByDefinition, 0>));
GRADVERIFY_KERNEL(ByDefinition, "bug_one", (launch<ByDefinition, 10>));
GRADVERIFY_KERNEL(RightByHand, "zero", (launch<RightByHand, 0>));
GRADVERIFY_KERNEL(WrongByHand, "bug_no_fault_of_its_own", (launch<WrongByHand, 0>));
