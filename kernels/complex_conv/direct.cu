// SPDX-License-Identifier: Apache-2.0
// complex_conv/direct: all of the operator on complex64 and complex128, in every number of
// dimensions and every layout that the operator names.
#include "kernels/complex_conv/direct.cuh"
#include "reference/complex_conv.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::complex_conv;

template <class Pair>
void launch_forward(const Forward& call) {
    conv::launch_to_features<Pair, Pair, Pair, Product>(call.problem, call.x, call.w, &call.b,
                                                        call.y, call.launch);
}
/// Of GradInput and Backward.
template <class Pair, class Call>
void launch_grad_input(const Call& call) {
    conv::launch_to_image<Pair, Pair, Pair, ConjugateProduct>(call.problem, call.dy, call.w,
                                                              nullptr, call.dx, call.launch);
}
/// Of GradWeight and Backward.
template <class Pair, class Call>
void launch_grad_weight(const Call& call) {
    conv::launch_to_filter<Pair, Pair, Pair, ConjugateProduct>(call.problem, call.dy, call.x,
                                                               call.dw, call.launch);
}
/// Of GradBias and Backward.
template <class Pair, class Call>
void launch_grad_bias(const Call& call) {
    conv::launch_to_bias<Pair>(call.dy, call.db, call.launch);
}
template <class Pair>
void launch_backward(const Backward& call) {
    if (call.wants("dx")) launch_grad_input<Pair>(call);
    if (call.wants("dw")) launch_grad_weight<Pair>(call);
    if (call.wants("db")) launch_grad_bias<Pair>(call);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "direct", launch_forward<float2>).with(declare_direct_product<float2>);
GRADVERIFY_KERNEL(Forward, "direct_f64", launch_forward<double2>)
    .with(declare_direct_product<double2>);
GRADVERIFY_KERNEL(GradInput, "direct", launch_grad_input<float2, GradInput>)
    .with(declare_direct_product<float2>);
GRADVERIFY_KERNEL(GradInput, "direct_f64", launch_grad_input<double2, GradInput>)
    .with(declare_direct_product<double2>);
GRADVERIFY_KERNEL(GradWeight, "direct", launch_grad_weight<float2, GradWeight>)
    .with(declare_direct_product<float2>);
GRADVERIFY_KERNEL(GradWeight, "direct_f64", launch_grad_weight<double2, GradWeight>)
    .with(declare_direct_product<double2>);
GRADVERIFY_KERNEL(GradBias, "direct", launch_grad_bias<float2, GradBias>)
    .with(declare_direct<float2>);
GRADVERIFY_KERNEL(GradBias, "direct_f64", launch_grad_bias<double2, GradBias>)
    .with(declare_direct<double2>);
GRADVERIFY_KERNEL(Backward, "direct", launch_backward<float2>)
    .with(declare_direct_product<float2>)
    .takes_mask();
GRADVERIFY_KERNEL(Backward, "direct_f64", launch_backward<double2>)
    .with(declare_direct_product<double2>)
    .takes_mask();
