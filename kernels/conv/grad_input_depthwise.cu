// SPDX-License-Identifier: Apache-2.0
// conv.grad_input/depthwise: a group for each channel of x, any number of channels of y in it.
#include "kernels/conv/depthwise.cuh"
#include "reference/conv.hpp"

namespace {

using namespace gradverify;
using gradverify::conv::declare_depthwise;

template <class T>
void launch(const conv::GradInput& call) {
    conv::launch_depthwise_to_image<T>(call.problem, call.dy, call.w, call.dx, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradInput, "depthwise", launch<float>)
    .with(declare_depthwise<float>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "depthwise_f64", launch<double>)
    .with(declare_depthwise<double>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "depthwise_f16", launch<__half>)
    .with(declare_depthwise<__half>);
