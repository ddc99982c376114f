// SPDX-License-Identifier: Apache-2.0
// conv_transpose.grad_weight/implicit_gemm and /implicit_gemm_atomics: the product of
// conv.grad_weight, with the tensors in each other's roles.
#include "kernels/conv/implicit_gemm_split.cuh"
#include "reference/conv_transpose.hpp"

namespace {

using namespace gradverify;
using gradverify::conv::declare_implicit_gemm;
using gradverify::conv::GemmResult;

template <class T, GemmResult result>
void launch(const conv_transpose::GradWeight& call) {
    conv::gemm_to_filter<T, result>(call.problem, call.x, call.dy, call.dw, call.launch);
}

template <class T>
std::int64_t workspace_bytes(const Problem& problem) {
    const conv_transpose::Parameters p(problem);
    return conv::split_workspace<T>(p, p.c, p.k);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv_transpose::GradWeight, "implicit_gemm",
                  launch<float, GemmResult::partial>)
    .with(declare_implicit_gemm<float>)
    .workspace(workspace_bytes<float>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::GradWeight, "implicit_gemm_f64",
                  launch<double, GemmResult::partial>)
    .with(declare_implicit_gemm<double>)
    .workspace(workspace_bytes<double>);
GRADVERIFY_KERNEL(gradverify::conv_transpose::GradWeight, "implicit_gemm_atomics",
                  launch<float, GemmResult::added>)
    .with(declare_implicit_gemm<float>)
    .not_deterministic();
GRADVERIFY_KERNEL(gradverify::conv_transpose::GradWeight, "implicit_gemm_atomics_f64",
                  launch<double, GemmResult::added>)
    .with(declare_implicit_gemm<double>)
    .not_deterministic();
