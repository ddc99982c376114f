// SPDX-License-Identifier: Apache-2.0
// conv_transpose.grad_input/implicit_gemm: the product of conv.forward, without a bias.
#include "kernels/conv/implicit_gemm_launch.cuh"
#include "reference/conv_transpose.hpp"

namespace {

using namespace gradverify;
using gradverify::conv::declare_implicit_gemm;

template <class T>
void launch(const conv_transpose::GradInput& call) {
    conv::gemm_to_features<T>(call.problem, call.dy, call.w, nullptr, call.dx, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv_transpose::GradInput, "implicit_gemm", launch<float>)
    .with(declare_implicit_gemm<float>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::GradInput, "implicit_gemm_f64", launch<double>)
    .with(declare_implicit_gemm<double>);
