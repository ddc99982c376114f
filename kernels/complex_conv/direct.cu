// SPDX-License-Identifier: Apache-2.0
// complex_conv/direct: all of the operator on complex64 and complex128, in every number of
// dimensions and every layout that the operator names.
#include "kernels/complex_conv/direct.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::complex_conv;

template <class Pair>
void launch_backward(const Backward& call) {
    if (call.wants("dx")) launch_grad_input<Backward, Pair>(call);
    if (call.wants("dw")) launch_grad_weight<Backward, Pair>(call);
    if (call.wants("db")) launch_grad_bias<Backward, Pair>(call);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "direct", launch_forward<float2>).with(declare_direct<Forward, float2>);
GRADVERIFY_KERNEL(Forward, "direct_f64", launch_forward<double2>)
    .with(declare_direct<Forward, double2>);
GRADVERIFY_KERNEL(GradInput, "direct", launch_grad_input<GradInput, float2>)
    .with(declare_direct<GradInput, float2>);
GRADVERIFY_KERNEL(GradInput, "direct_f64", launch_grad_input<GradInput, double2>)
    .with(declare_direct<GradInput, double2>);
GRADVERIFY_KERNEL(GradWeight, "direct", launch_grad_weight<GradWeight, float2>)
    .with(declare_direct<GradWeight, float2>);
GRADVERIFY_KERNEL(GradWeight, "direct_f64", launch_grad_weight<GradWeight, double2>)
    .with(declare_direct<GradWeight, double2>);
GRADVERIFY_KERNEL(GradBias, "direct", launch_grad_bias<GradBias, float2>)
    .with(declare_direct<GradBias, float2>);
GRADVERIFY_KERNEL(GradBias, "direct_f64", launch_grad_bias<GradBias, double2>)
    .with(declare_direct<GradBias, double2>);
GRADVERIFY_KERNEL(Backward, "direct", launch_backward<float2>)
    .with(declare_direct<Backward, float2>)
    .takes_mask();
GRADVERIFY_KERNEL(Backward, "direct_f64", launch_backward<double2>)
    .with(declare_direct<Backward, double2>)
    .takes_mask();
