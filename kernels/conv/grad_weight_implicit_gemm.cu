// SPDX-License-Identifier: Apache-2.0
// conv.grad_weight/implicit_gemm and /implicit_gemm_atomics: dw as a product of dy with the patches
// of x. Its sum is split; the shares are added up in a fixed order or atomically.
#include "kernels/conv/implicit_gemm_split.cuh"
#include "reference/conv.hpp"

namespace {

using namespace gradverify;
using gradverify::conv::declare_implicit_gemm;
using gradverify::conv::GemmResult;

template <class T, GemmResult result>
void launch(const conv::GradWeight& call) {
    conv::gemm_to_filter<T, result>(call.problem, call.dy, call.x, call.dw, call.launch);
}

template <class T>
std::int64_t workspace_bytes(const Problem& problem) {
    const conv::Parameters p(problem);
    return conv::split_workspace<T>(p, p.k, p.c);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "implicit_gemm", launch<float, GemmResult::partial>)
    .with(declare_implicit_gemm<float>)
    .workspace(workspace_bytes<float>);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "implicit_gemm_f64",
                  launch<double, GemmResult::partial>)
    .with(declare_implicit_gemm<double>)
    .workspace(workspace_bytes<double>);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "implicit_gemm_atomics",
                  launch<float, GemmResult::added>)
    .with(declare_implicit_gemm<float>)
    .not_deterministic();
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "implicit_gemm_atomics_f64",
                  launch<double, GemmResult::added>)
    .with(declare_implicit_gemm<double>)
    .not_deterministic();
