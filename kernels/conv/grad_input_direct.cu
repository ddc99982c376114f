// SPDX-License-Identifier: Apache-2.0
// conv.grad_input/direct: all of the operator, in every number of dimensions, layout and type.
#include "kernels/conv/direct.cuh"
#include "reference/conv.hpp"

namespace {

using namespace gradverify;
using gradverify::conv::declare_direct_product;

template <class T>
void launch(const conv::GradInput& call) {
    conv::launch_to_image<T>(call.problem, call.dy, call.w, nullptr, call.dx, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradInput, "direct", launch<float>)
    .with(declare_direct_product<float>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "direct_f64", launch<double>)
    .with(declare_direct_product<double>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "direct_f16", launch<__half>)
    .with(declare_direct_product<__half>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "direct_bf16", launch<__nv_bfloat16>)
    .with(declare_direct_product<__nv_bfloat16>);
