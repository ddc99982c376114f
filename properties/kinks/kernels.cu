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
