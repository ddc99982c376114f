// SPDX-License-Identifier: Apache-2.0
// conv.forward/depthwise and conv.grad_input/depthwise: a group for each channel of x, with any
// number of channels of y.
// conv.grad_weight/depthwise: a block of whole warps for each element of dw.
#include "kernels/conv/depthwise.cuh"
#include "reference/conv.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::conv;

template <class T>
void forward(const Forward& call) {
    launch_depthwise_to_features<T>(call.problem, call.x, call.w, call.b, call.y, call.launch);
}

template <class T>
void grad_input(const GradInput& call) {
    launch_depthwise_to_image<T>(call.problem, call.dy, call.w, call.dx, call.launch);
}

template <class T>
void grad_weight(const GradWeight& call) {
    launch_depthwise_to_filter<T>(call.problem, call.dy, call.x, call.dw, call.launch);
}

template <class T>
void declare_filter(KernelDeclaration& kernel) {
    declare_depthwise<T>(kernel);
    kernel.costs({.threads_per_output = 128, .barriers_per_thread = 6});
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "depthwise", forward<float>).with(declare_depthwise<float>);
GRADVERIFY_KERNEL(Forward, "depthwise_f64", forward<double>).with(declare_depthwise<double>);
GRADVERIFY_KERNEL(Forward, "depthwise_f16", forward<__half>).with(declare_depthwise<__half>);
GRADVERIFY_KERNEL(GradInput, "depthwise", grad_input<float>).with(declare_depthwise<float>);
GRADVERIFY_KERNEL(GradInput, "depthwise_f64", grad_input<double>).with(declare_depthwise<double>);
GRADVERIFY_KERNEL(GradInput, "depthwise_f16", grad_input<__half>).with(declare_depthwise<__half>);
GRADVERIFY_KERNEL(GradWeight, "depthwise", grad_weight<float>).with(declare_filter<float>);
GRADVERIFY_KERNEL(GradWeight, "depthwise_f64", grad_weight<double>).with(declare_filter<double>);
GRADVERIFY_KERNEL(GradWeight, "depthwise_f16", grad_weight<__half>).with(declare_filter<__half>);
