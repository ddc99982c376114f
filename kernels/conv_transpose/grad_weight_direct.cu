// SPDX-License-Identifier: Apache-2.0
// conv_transpose.grad_weight/direct: the walk of conv.grad_weight, with the tensors in each
// other's roles.
#include "kernels/conv/direct.cuh"
#include "reference/conv_transpose.hpp"

namespace {

using namespace gradverify;
using gradverify::conv::declare_direct_product;

template <class T>
void launch(const conv_transpose::GradWeight& call) {
    conv::launch_to_filter<T>(call.problem, call.x, call.dy, call.dw, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv_transpose::GradWeight, "direct", launch<float>)
    .with(declare_direct_product<float>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::GradWeight, "direct_f64", launch<double>)
    .with(declare_direct_product<double>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::GradWeight, "direct_f16", launch<__half>)
    .with(declare_direct_product<__half>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::GradWeight, "direct_bf16", launch<__nv_bfloat16>)
    .with(declare_direct_product<__nv_bfloat16>);
