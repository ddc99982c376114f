// SPDX-License-Identifier: Apache-2.0
// conv.*/blocked: images and filters in oneDNN's blocked layouts, in one, two and three dimensions.
#include "kernels/conv/blocked.cuh"
#include "reference/conv.hpp"

namespace {

using namespace gradverify;
using gradverify::conv::declare_blocked;
using gradverify::conv::declare_blocked_features;

template <class T>
void forward(const conv::Forward& call) {
    conv::launch_blocked_to_features<T>(call.problem, call.x, call.w, call.b, call.y, call.launch);
}
template <class T>
void grad_input(const conv::GradInput& call) {
    conv::launch_blocked_to_image<T>(call.problem, call.dy, call.w, call.dx, call.launch);
}
template <class T>
void grad_weight(const conv::GradWeight& call) {
    conv::launch_blocked_to_filter<T>(call.problem, call.dy, call.x, call.dw, call.launch);
}
template <class T>
void grad_bias(const conv::GradBias& call) {
    conv::launch_blocked_to_bias<T>(call.problem, call.dy, call.db, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::Forward, "blocked", forward<float>)
    .with(declare_blocked<float>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "blocked_f64", forward<double>)
    .with(declare_blocked<double>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "blocked", grad_input<float>)
    .with(declare_blocked<float>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "blocked_f64", grad_input<double>)
    .with(declare_blocked<double>);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "blocked", grad_weight<float>)
    .with(declare_blocked<float>);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "blocked_f64", grad_weight<double>)
    .with(declare_blocked<double>);
GRADVERIFY_KERNEL(gradverify::conv::GradBias, "blocked", grad_bias<float>)
    .with(declare_blocked_features<float>);
GRADVERIFY_KERNEL(gradverify::conv::GradBias, "blocked_f64", grad_bias<double>)
    .with(declare_blocked_features<double>);
