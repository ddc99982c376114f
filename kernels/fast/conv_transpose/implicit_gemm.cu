// SPDX-License-Identifier: Apache-2.0
// conv_transpose/implicit_gemm: the products of conv's grad_input, forward and grad_weight.
#include "kernels/fast/conv/implicit_gemm_launch.cuh"
#include "kernels/fast/conv/implicit_gemm_split.cuh"
#include "reference/conv_transpose.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::conv_transpose;
using conv::declare_implicit_gemm;
using conv::gemm_to_features;
using conv::gemm_to_filter;
using conv::gemm_to_image;
using conv::GemmResult;
using enum GemmResult;

template <class T>
void forward(const Forward& call) {
    gemm_to_image<T>(call.problem, call.x, call.w, &call.b, call.y, call.launch);
}

template <class T>
void grad_input(const GradInput& call) {
    gemm_to_features<T>(call.problem, call.dy, call.w, nullptr, call.dx, call.launch);
}

template <class T, GemmResult result>
void grad_weight(const GradWeight& call) {
    gemm_to_filter<T, result>(call.problem, call.x, call.dy, call.dw, call.launch);
}

template <class T>
void declare_split(KernelDeclaration& kernel) {
    declare_implicit_gemm<T>(kernel);
    kernel.workspace([](const Problem& problem) {
        const Parameters p(problem);
        return conv::split_workspace<T>(p, p.c, p.k);
    });
}

}  // namespace

GRADVERIFY_IMPLICIT_GEMM("", float);
GRADVERIFY_IMPLICIT_GEMM("_f64", double);
