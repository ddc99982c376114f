// SPDX-License-Identifier: Apache-2.0
// conv.forward/implicit_gemm: y as a product of w with the patches of x, which are never written.
#include "kernels/conv/implicit_gemm_launch.cuh"
#include "reference/conv.hpp"

namespace {

using namespace gradverify;
using gradverify::conv::declare_implicit_gemm;

template <class T>
void launch(const conv::Forward& call) {
    conv::gemm_to_features<T>(call.problem, call.x, call.w, &call.b, call.y, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::Forward, "implicit_gemm", launch<float>)
    .with(declare_implicit_gemm<float>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "implicit_gemm_f64", launch<double>)
    .with(declare_implicit_gemm<double>);
