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

}  // namespace

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
