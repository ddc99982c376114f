// SPDX-License-Identifier: Apache-2.0
// conv/direct: all passes by their definition. backward runs a kernel for each gradient that the
// output mask asks for.
// conv.*/direct_f8: 8-bit floats, summed in float. As in training, images and filters are e4m3,
// cotangents, which differ more in size, e5m2, and results are wider; in direct_f8_all everything
// is e4m3, and a result beyond 448 becomes 448.
#include <cuda_fp8.h>

#include "kernels/conv/direct.cuh"
#include "reference/conv.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::conv;
using e4m3 = __nv_fp8_e4m3;
using e5m2 = __nv_fp8_e5m2;

template <class T>
void forward(const Forward& call) {
    launch_to_features<T>(call.problem, call.x, call.w, &call.b, call.y, call.launch);
}
template <class T>
void grad_input(const GradInput& call) {
    launch_to_image<T>(call.problem, call.dy, call.w, nullptr, call.dx, call.launch);
}
template <class T>
void grad_weight(const GradWeight& call) {
    launch_to_filter<T>(call.problem, call.dy, call.x, call.dw, call.launch);
}
template <class T>
void grad_bias(const GradBias& call) {
    launch_to_bias<T>(call.dy, call.db, call.launch);
}
template <class T>
void backward(const Backward& call) {
    if (call.wants("dx"))
        launch_to_image<T>(call.problem, call.dy, call.w, nullptr, call.dx, call.launch);
    if (call.wants("dw")) launch_to_filter<T>(call.problem, call.dy, call.x, call.dw, call.launch);
    if (call.wants("db")) launch_to_bias<T>(call.dy, call.db, call.launch);
}

/// `Result` is the type of bias and features.
template <class Result>
void forward_f8(const Forward& call) {
    launch_to_features<e4m3, e4m3, Result>(call.problem, call.x, call.w, &call.b, call.y,
                                           call.launch);
}
void grad_input_f8(const GradInput& call) {
    launch_to_image<e5m2, e4m3, __half>(call.problem, call.dy, call.w, nullptr, call.dx,
                                        call.launch);
}
void grad_weight_f8(const GradWeight& call) {
    launch_to_filter<e5m2, e4m3, float>(call.problem, call.dy, call.x, call.dw, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL_OF_EACH_TYPE(Forward, "direct", forward, declare_direct_product);
GRADVERIFY_KERNEL_OF_EACH_TYPE(GradInput, "direct", grad_input, declare_direct_product);
GRADVERIFY_KERNEL_OF_EACH_TYPE(GradWeight, "direct", grad_weight, declare_direct_product);
GRADVERIFY_KERNEL_OF_EACH_TYPE(GradBias, "direct", grad_bias, declare_direct);
GRADVERIFY_KERNEL_OF_EACH_TYPE(Backward, "direct", backward, declare_direct_of_mask);

GRADVERIFY_KERNEL(Forward, "direct_f8", forward_f8<float>)
    .with(declare_direct_product<float>)
    .storage("x", DType::f8e4m3)
    .storage("w", DType::f8e4m3);
GRADVERIFY_KERNEL(Forward, "direct_f8_all", forward_f8<e4m3>)
    .with(declare_direct_product<e4m3>)
    .saturates();
GRADVERIFY_KERNEL(GradInput, "direct_f8", grad_input_f8)
    .with(declare_direct_product<__half>)
    .storage("dy", DType::f8e5m2)
    .storage("w", DType::f8e4m3);
GRADVERIFY_KERNEL(GradWeight, "direct_f8", grad_weight_f8)
    .with(declare_direct_product<float>)
    .storage("dy", DType::f8e5m2)
    .storage("x", DType::f8e4m3);
