// SPDX-License-Identifier: Apache-2.0
// conv_transpose.forward/implicit_gemm: the product of conv.grad_input, and a bias.
#include "kernels/conv/implicit_gemm_launch.cuh"
#include "reference/conv_transpose.hpp"

namespace {

using namespace gradverify;
using gradverify::conv::declare_implicit_gemm;

template <class T>
void launch(const conv_transpose::Forward& call) {
    conv::gemm_to_image<T>(call.problem, call.x, call.w, &call.b, call.y, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv_transpose::Forward, "implicit_gemm", launch<float>)
    .with(declare_implicit_gemm<float>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::Forward, "implicit_gemm_f64", launch<double>)
    .with(declare_implicit_gemm<double>);
