// SPDX-License-Identifier: Apache-2.0
// conv_transpose.forward/direct: the walk of conv.grad_input, and a bias.
#include "kernels/conv/direct.cuh"
#include "reference/conv_transpose.hpp"

namespace {

using namespace gradverify;
using gradverify::conv::declare_direct_product;

template <class T>
void launch(const conv_transpose::Forward& call) {
    conv::launch_to_image<T>(call.problem, call.x, call.w, &call.b, call.y, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv_transpose::Forward, "direct", launch<float>)
    .with(declare_direct_product<float>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::Forward, "direct_f64", launch<double>)
    .with(declare_direct_product<double>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::Forward, "direct_f16", launch<__half>)
    .with(declare_direct_product<__half>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::Forward, "direct_bf16", launch<__nv_bfloat16>)
    .with(declare_direct_product<__nv_bfloat16>);
