// SPDX-License-Identifier: Apache-2.0
// conv_transpose/direct: conv/direct with the roles exchanged: x has the features, y is the image.
#include "kernels/conv/direct.cuh"
#include "reference/conv_transpose.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::conv_transpose;
using conv::declare_direct;
using conv::declare_direct_of_mask;
using conv::declare_direct_product;
using conv::launch_to_bias;
using conv::launch_to_features;
using conv::launch_to_filter;
using conv::launch_to_image;

template <class T>
void forward(const Forward& call) {
    launch_to_image<T>(call.problem, call.x, call.w, &call.b, call.y, call.launch);
}
template <class T>
void grad_input(const GradInput& call) {
    launch_to_features<T>(call.problem, call.dy, call.w, nullptr, call.dx, call.launch);
}
template <class T>
void grad_weight(const GradWeight& call) {
    launch_to_filter<T>(call.problem, call.x, call.dy, call.dw, call.launch);
}
template <class T>
void grad_bias(const GradBias& call) {
    launch_to_bias<T>(call.dy, call.db, call.launch);
}
template <class T>
void backward(const Backward& call) {
    if (call.wants("dx"))
        launch_to_features<T>(call.problem, call.dy, call.w, nullptr, call.dx, call.launch);
    if (call.wants("dw")) launch_to_filter<T>(call.problem, call.x, call.dy, call.dw, call.launch);
    if (call.wants("db")) launch_to_bias<T>(call.dy, call.db, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL_OF_EACH_TYPE(Forward, "direct", forward, declare_direct_product);
GRADVERIFY_KERNEL_OF_EACH_TYPE(GradInput, "direct", grad_input, declare_direct_product);
GRADVERIFY_KERNEL_OF_EACH_TYPE(GradWeight, "direct", grad_weight, declare_direct_product);
GRADVERIFY_KERNEL_OF_EACH_TYPE(GradBias, "direct", grad_bias, declare_direct);
GRADVERIFY_KERNEL_OF_EACH_TYPE(Backward, "direct", backward, declare_direct_of_mask);
