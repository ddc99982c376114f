// SPDX-License-Identifier: Apache-2.0
// conv.forward/implicit_gemm: y as a product of w with the patches of x, which are never written.
// conv.grad_input/implicit_gemm: dx as a product of w with dy for each residue of pixels modulo the
// stride, so that nothing is multiplied by the zeros between the elements of dy.
// conv.grad_weight/implicit_gemm and /implicit_gemm_atomics: dw as a product of dy with the patches
// of x. Its sum is split; the shares are added up in a fixed order or atomically.
#include "kernels/fast/conv/implicit_gemm_launch.cuh"
#include "kernels/fast/conv/implicit_gemm_split.cuh"
#include "reference/conv.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::conv;
using enum GemmResult;

template <class T>
void forward(const Forward& call) {
    gemm_to_features<T>(call.problem, call.x, call.w, &call.b, call.y, call.launch);
}

template <class T>
void grad_input(const GradInput& call) {
    gemm_to_image<T>(call.problem, call.dy, call.w, nullptr, call.dx, call.launch);
}

template <class T, GemmResult result>
void grad_weight(const GradWeight& call) {
    gemm_to_filter<T, result>(call.problem, call.dy, call.x, call.dw, call.launch);
}

template <class T>
void declare_split(KernelDeclaration& kernel) {
    declare_implicit_gemm<T>(kernel);
    kernel.workspace([](const Problem& problem) {
        const Parameters p(problem);
        return split_workspace<T>(p, p.k, p.c);
    });
}

}  // namespace

GRADVERIFY_IMPLICIT_GEMM("", float);
GRADVERIFY_IMPLICIT_GEMM("_f64", double);
