// SPDX-License-Identifier: Apache-2.0
// conv.*/direct_f8: convolution of 8-bit floats, summed in float. As training has it: images and
// filters are e4m3, cotangents, which are of more different sizes, e5m2; results are wider. The
// forward pass also with everything in e4m3, where a result beyond 448 becomes 448.
#include <cuda_fp8.h>

#include "kernels/conv/direct.cuh"
#include "reference/conv.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::conv;
using e4m3 = __nv_fp8_e4m3;
using e5m2 = __nv_fp8_e5m2;

/// `Result` is the type of bias and features.
template <class Result>
void launch_forward(const Forward& call) {
    launch_to_features<e4m3, e4m3, Result>(call.problem, call.x, call.w, &call.b, call.y,
                                           call.launch);
}
void launch_grad_input(const GradInput& call) {
    launch_to_image<e5m2, e4m3, __half>(call.problem, call.dy, call.w, nullptr, call.dx,
                                        call.launch);
}
void launch_grad_weight(const GradWeight& call) {
    launch_to_filter<e5m2, e4m3, float>(call.problem, call.dy, call.x, call.dw, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "direct_f8", launch_forward<float>)
    .with(declare_direct_product<float>)
    .storage("x", DType::f8e4m3)
    .storage("w", DType::f8e4m3);
GRADVERIFY_KERNEL(Forward, "direct_f8_all", launch_forward<__nv_fp8_e4m3>)
    .with(declare_direct_product<__nv_fp8_e4m3>)
    .saturates();
GRADVERIFY_KERNEL(GradInput, "direct_f8", launch_grad_input)
    .with(declare_direct_product<__half>)
    .storage("dy", DType::f8e5m2)
    .storage("w", DType::f8e4m3);
GRADVERIFY_KERNEL(GradWeight, "direct_f8", launch_grad_weight)
    .with(declare_direct_product<float>)
    .storage("dy", DType::f8e5m2)
    .storage("x", DType::f8e4m3);
