// SPDX-License-Identifier: Apache-2.0
// conv.grad_weight/depthwise: a block of whole warps for each element of dw, which is one channel
// of y with one channel of x.
#include "kernels/conv/depthwise.cuh"
#include "reference/conv.hpp"

namespace {

using namespace gradverify;
using gradverify::conv::declare_depthwise;

template <class T>
void launch(const conv::GradWeight& call) {
    conv::launch_depthwise_to_filter<T>(call.problem, call.dy, call.x, call.dw, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "depthwise", launch<float>)
    .with(declare_depthwise<float>)
    .costs({.threads_per_output = 128, .barriers_per_thread = 6});
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "depthwise_f64", launch<double>)
    .with(declare_depthwise<double>)
    .costs({.threads_per_output = 128, .barriers_per_thread = 6});
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "depthwise_f16", launch<__half>)
    .with(declare_depthwise<__half>)
    .costs({.threads_per_output = 128, .barriers_per_thread = 6});
