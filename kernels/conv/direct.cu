// SPDX-License-Identifier: Apache-2.0
// conv/direct: all passes by their definition, in one to three dimensions, of tensors with any
// strides. backward is those of the three gradients that the output mask asks for, a kernel each.
#include "kernels/conv/direct.cuh"
#include "reference/conv.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::conv;

template <class T>
void launch_forward(const Forward& call) {
    launch_to_features<T>(call.problem, call.x, call.w, &call.b, call.y, call.launch);
}
/// Of GradInput and Backward.
template <class T, class Call>
void launch_grad_input(const Call& call) {
    launch_to_image<T>(call.problem, call.dy, call.w, nullptr, call.dx, call.launch);
}
/// Of GradWeight and Backward.
template <class T, class Call>
void launch_grad_weight(const Call& call) {
    launch_to_filter<T>(call.problem, call.dy, call.x, call.dw, call.launch);
}
/// Of GradBias and Backward.
template <class T, class Call>
void launch_grad_bias(const Call& call) {
    launch_to_bias<T>(call.dy, call.db, call.launch);
}
template <class T>
void launch_backward(const Backward& call) {
    if (call.wants("dx")) launch_grad_input<T>(call);
    if (call.wants("dw")) launch_grad_weight<T>(call);
    if (call.wants("db")) launch_grad_bias<T>(call);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "direct", launch_forward<float>).with(declare_direct_product<float>);
GRADVERIFY_KERNEL(Forward, "direct_f64", launch_forward<double>)
    .with(declare_direct_product<double>);
GRADVERIFY_KERNEL(Forward, "direct_f16", launch_forward<__half>)
    .with(declare_direct_product<__half>);
GRADVERIFY_KERNEL(Forward, "direct_bf16", launch_forward<__nv_bfloat16>)
    .with(declare_direct_product<__nv_bfloat16>);
GRADVERIFY_KERNEL(GradInput, "direct", launch_grad_input<float, GradInput>)
    .with(declare_direct_product<float>);
GRADVERIFY_KERNEL(GradInput, "direct_f64", launch_grad_input<double, GradInput>)
    .with(declare_direct_product<double>);
GRADVERIFY_KERNEL(GradInput, "direct_f16", launch_grad_input<__half, GradInput>)
    .with(declare_direct_product<__half>);
GRADVERIFY_KERNEL(GradInput, "direct_bf16", launch_grad_input<__nv_bfloat16, GradInput>)
    .with(declare_direct_product<__nv_bfloat16>);
GRADVERIFY_KERNEL(GradWeight, "direct", launch_grad_weight<float, GradWeight>)
    .with(declare_direct_product<float>);
GRADVERIFY_KERNEL(GradWeight, "direct_f64", launch_grad_weight<double, GradWeight>)
    .with(declare_direct_product<double>);
GRADVERIFY_KERNEL(GradWeight, "direct_f16", launch_grad_weight<__half, GradWeight>)
    .with(declare_direct_product<__half>);
GRADVERIFY_KERNEL(GradWeight, "direct_bf16", launch_grad_weight<__nv_bfloat16, GradWeight>)
    .with(declare_direct_product<__nv_bfloat16>);
GRADVERIFY_KERNEL(GradBias, "direct", launch_grad_bias<float, GradBias>)
    .with(declare_direct<float>);
GRADVERIFY_KERNEL(GradBias, "direct_f64", launch_grad_bias<double, GradBias>)
    .with(declare_direct<double>);
GRADVERIFY_KERNEL(GradBias, "direct_f16", launch_grad_bias<__half, GradBias>)
    .with(declare_direct<__half>);
GRADVERIFY_KERNEL(GradBias, "direct_bf16", launch_grad_bias<__nv_bfloat16, GradBias>)
    .with(declare_direct<__nv_bfloat16>);
GRADVERIFY_KERNEL(Backward, "direct", launch_backward<float>)
    .with(declare_direct_product<float>)
    .takes_mask();
GRADVERIFY_KERNEL(Backward, "direct_f64", launch_backward<double>)
    .with(declare_direct_product<double>)
    .takes_mask();
GRADVERIFY_KERNEL(Backward, "direct_f16", launch_backward<__half>)
    .with(declare_direct_product<__half>)
    .takes_mask();
GRADVERIFY_KERNEL(Backward, "direct_bf16", launch_backward<__nv_bfloat16>)
    .with(declare_direct_product<__nv_bfloat16>)
    .takes_mask();
