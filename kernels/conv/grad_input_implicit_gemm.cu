// SPDX-License-Identifier: Apache-2.0
// conv.grad_input/implicit_gemm: dx as a product of w with dy for each residue of pixels modulo the
// stride, so that no product is with a zero that lies between two elements of dy.
#include "kernels/conv/implicit_gemm_launch.cuh"
#include "reference/conv.hpp"

namespace {

using namespace gradverify;
using gradverify::conv::declare_implicit_gemm;

template <class T>
void launch(const conv::GradInput& call) {
    conv::gemm_to_image<T>(call.problem, call.dy, call.w, nullptr, call.dx, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradInput, "implicit_gemm", launch<float>)
    .with(declare_implicit_gemm<float>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "implicit_gemm_f64", launch<double>)
    .with(declare_implicit_gemm<double>);
