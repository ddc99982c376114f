// SPDX-License-Identifier: Apache-2.0
// conv_transpose.grad_bias/direct: that of conv.
#include "kernels/conv/direct.cuh"
#include "reference/conv_transpose.hpp"

namespace {

using namespace gradverify;
using gradverify::conv::declare_direct;

template <class T>
void launch(const conv_transpose::GradBias& call) {
    conv::launch_to_bias<T>(call.dy, call.db, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv_transpose::GradBias, "direct", launch<float>)
    .with(declare_direct<float>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::GradBias, "direct_f64", launch<double>)
    .with(declare_direct<double>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::GradBias, "direct_f16", launch<__half>)
    .with(declare_direct<__half>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::GradBias, "direct_bf16", launch<__nv_bfloat16>)
    .with(declare_direct<__nv_bfloat16>);
