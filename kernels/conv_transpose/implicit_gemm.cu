// SPDX-License-Identifier: Apache-2.0
// conv_transpose.forward/implicit_gemm: the product of conv.grad_input, and a bias.
// conv_transpose.grad_input/implicit_gemm: the product of conv.forward, without a bias.
// conv_transpose.grad_weight/implicit_gemm and /implicit_gemm_atomics: the product of
// conv.grad_weight, with the tensors in each other's roles.
#include "kernels/conv/implicit_gemm_launch.cuh"
#include "kernels/conv/implicit_gemm_split.cuh"
#include "reference/conv_transpose.hpp"

namespace {

using namespace gradverify;
using gradverify::conv::declare_implicit_gemm;

template <class T>
void forward(const conv_transpose::Forward& call) {
    conv::gemm_to_image<T>(call.problem, call.x, call.w, &call.b, call.y, call.launch);
}

template <class T>
void grad_input(const conv_transpose::GradInput& call) {
    conv::gemm_to_features<T>(call.problem, call.dy, call.w, nullptr, call.dx, call.launch);
}

using gradverify::conv::GemmResult;

template <class T, GemmResult result>
void grad_weight(const conv_transpose::GradWeight& call) {
    conv::gemm_to_filter<T, result>(call.problem, call.x, call.dy, call.dw, call.launch);
}

template <class T>
std::int64_t workspace_bytes(const Problem& problem) {
    const conv_transpose::Parameters p(problem);
    return conv::split_workspace<T>(p, p.c, p.k);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv_transpose::Forward, "implicit_gemm", forward<float>)
    .with(declare_implicit_gemm<float>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::Forward, "implicit_gemm_f64", forward<double>)
    .with(declare_implicit_gemm<double>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::GradInput, "implicit_gemm", grad_input<float>)
    .with(declare_implicit_gemm<float>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::GradInput, "implicit_gemm_f64", grad_input<double>)
    .with(declare_implicit_gemm<double>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::GradWeight, "implicit_gemm",
                  grad_weight<float, GemmResult::partial>)
    .with(declare_implicit_gemm<float>)
    .workspace(workspace_bytes<float>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::GradWeight, "implicit_gemm_f64",
                  grad_weight<double, GemmResult::partial>)
    .with(declare_implicit_gemm<double>)
    .workspace(workspace_bytes<double>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::GradWeight, "implicit_gemm_atomics",
                  grad_weight<float, GemmResult::added>)
    .with(declare_implicit_gemm<float>)
    .not_deterministic();
GRADVERIFY_KERNEL(gradverify::conv_transpose::GradWeight, "implicit_gemm_atomics_f64",
                  grad_weight<double, GemmResult::added>)
    .with(declare_implicit_gemm<double>)
    .not_deterministic();
