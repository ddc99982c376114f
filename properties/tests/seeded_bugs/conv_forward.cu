// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of conv.forward, each a mistake that shipped somewhere. Linked into the tests only;
// seeded_bugs_test.cpp says which property must kill each, and at which problem.
#include "properties/tests/seeded_bugs/plain_conv.cuh"

namespace {

using namespace gradverify::plain_conv;

// A01 tests each pixel against the other axis's extent.
struct SwappedExtents : RightConv {
    __device__ static bool inside(const DeviceGeometry& g, long long ih, long long iw) {
        return ih >= 0 && ih < g.w.in && iw >= 0 && iw < g.h.in;
    }
};

// A02 applies the dilation to the output position as well; the gradient by w shares the mistake, so
// that forward and backward agree on it.
struct DilatedPosition : RightConv {
    __device__ static long long pixel(const DeviceAxis& axis, long long out, long long f) {
        return (out * axis.stride + f) * axis.dilation - axis.padding;
    }
};

// Writes nothing but zeros for a channel without a bias, so that it is right on most data and wrong
// about every derivative: no witness against a gradient.
__global__ void erase_channels_without_bias(const float* b, float* y, DeviceGeometry g) {
    const long long i = thread_in_grid();
    if (i >= g.n * g.k * g.h.out * g.w.out) return;
    if (b[i / (g.w.out * g.h.out) % g.k] == 0.0f) y[i] = 0.0f;
}

void launch_without_bias(const gradverify::conv::Forward& call) {
    if (call.y.elements() == 0) return;
    launch_forward<RightConv>(call);
    erase_channels_without_bias<<<blocks_of(call.y.elements()), 128, 0, call.launch.stream>>>(
        call.b.as<const float>(), call.y.as<float>(),
        gradverify::conv::device_geometry(call.problem, call.y));
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_a01_swapped_extents",
                  launch_forward<SwappedExtents>)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_a02_dilated_position",
                  launch_forward<DilatedPosition>)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_needs_bias", launch_without_bias)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "bug_a02_dilated_position",
                  launch_grad_weight<DilatedPosition>)
    .aligned_to(sizeof(float))
    .with_empty_problems();
