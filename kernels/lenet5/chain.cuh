// SPDX-License-Identifier: Apache-2.0
// LeNet-5's layers in their order, forwards and backwards, over the kernels that it is given. Every
// buffer is a tensor of the pass; nothing is allocated.
#pragma once

#include "kernels/lenet5/layers.cuh"

namespace gradverify::lenet5 {

/// The eleven calls before the loss.
template <class Call>
void forward_to_logits(const Call& call, const Kernels& kernels) {
    const Activations& out = call.out;
    const Weights& in = call.weights;
    const Launch& on = call.launch;
    const auto rectify = [&](const TensorView& x, const TensorView& y) {
        kernels.relu_forward(relu_problem(x), {{"x", x}, {"y", y}}, on);
    };
    const auto pool = [&](const TensorView& x, const TensorView& y, const TensorView& index) {
        kernels.maxpool_forward(pool_problem(x, call.window_h, call.window_w),
                                {{"x", x}, {"y", y}, {"index", index}}, on);
    };
    const auto convolve = [&](const TensorView& x, const TensorView& w, const TensorView& b,
                              const TensorView& y) {
        kernels.conv_forward(conv_problem(x, w), {{"x", x}, {"w", w}, {"b", b}, {"y", y}}, on);
    };
    const auto connect = [&](const TensorView& x, const TensorView& w, const TensorView& b,
                             const TensorView& y) {
        kernels.fc_forward(fc_problem(x, w), {{"x", x}, {"w", w}, {"b", b}, {"y", y}}, on);
    };
    convolve(call.image, in.conv1_w, in.conv1_b, out.conv1_out);
    rectify(out.conv1_out, out.relu1_out);
    pool(out.relu1_out, out.pool1_out, call.pool1_index);
    convolve(out.pool1_out, in.conv2_w, in.conv2_b, out.conv2_out);
    rectify(out.conv2_out, out.relu2_out);
    pool(out.relu2_out, out.pool2_out, call.pool2_index);
    connect(out.pool2_out, in.fc1_w, in.fc1_b, out.fc1_out);
    rectify(out.fc1_out, out.relu3_out);
    connect(out.relu3_out, in.fc2_w, in.fc2_b, out.fc2_out);
    rectify(out.fc2_out, out.relu4_out);
    connect(out.relu4_out, in.fc3_w, in.fc3_b, out.fc3_out);
}

/// Steps 2 to 21 of the backward pass, from the logits' cotangent; and the image's gradient, the
/// 22nd, where it is asked for.
template <class Call>
void backward_from_logits(const Call& call, const Kernels& kernels) {
    const Activations& d = call.cotangents;
    const Weights &in = call.weights, &grad = call.gradients;
    const Launch& on = call.launch;
    const auto fc_grad_weight = [&](const TensorView& dy, const TensorView& x,
                                    const TensorView& dw) {
        kernels.fc_grad_weight(fc_problem(x, dw), {{"dy", dy}, {"x", x}, {"dw", dw}}, on);
    };
    const auto fc_grad_bias = [&](const TensorView& dy, const TensorView& w, const TensorView& db) {
        kernels.fc_grad_bias(fc_problem(dy, w), {{"dy", dy}, {"db", db}}, on);
    };
    const auto fc_grad_input = [&](const TensorView& dy, const TensorView& w,
                                   const TensorView& dx) {
        kernels.fc_grad_input(fc_problem(dx, w), {{"dy", dy}, {"w", w}, {"dx", dx}}, on);
    };
    const auto relu_grad_input = [&](const TensorView& dy, const TensorView& x,
                                     const TensorView& dx) {
        kernels.relu_grad_input(relu_problem(x), {{"dy", dy}, {"x", x}, {"dx", dx}}, on);
    };
    const auto maxpool_grad_input = [&](const TensorView& dy, const TensorView& index,
                                        const TensorView& dx) {
        kernels.maxpool_grad_input(pool_problem(dx, call.window_h, call.window_w),
                                   {{"dy", dy}, {"index", index}, {"dx", dx}}, on);
    };
    const auto conv_grad_weight = [&](const TensorView& dy, const TensorView& x,
                                      const TensorView& dw) {
        kernels.conv_grad_weight(conv_problem(x, dw), {{"dy", dy}, {"x", x}, {"dw", dw}}, on);
    };
    const auto conv_grad_bias = [&](const TensorView& dy, const TensorView& x, const TensorView& w,
                                    const TensorView& db) {
        kernels.conv_grad_bias(conv_problem(x, w), {{"dy", dy}, {"db", db}}, on);
    };
    const auto conv_grad_input = [&](const TensorView& dy, const TensorView& w,
                                     const TensorView& dx) {
        kernels.conv_grad_input(conv_problem(dx, w), {{"dy", dy}, {"w", w}, {"dx", dx}}, on);
    };
    fc_grad_weight(d.fc3_out, call.relu4_out, grad.fc3_w);                 //  2
    fc_grad_bias(d.fc3_out, in.fc3_w, grad.fc3_b);                         //  3
    fc_grad_input(d.fc3_out, in.fc3_w, d.relu4_out);                       //  4
    relu_grad_input(d.relu4_out, call.fc2_out, d.fc2_out);                 //  5
    fc_grad_weight(d.fc2_out, call.relu3_out, grad.fc2_w);                 //  6
    fc_grad_bias(d.fc2_out, in.fc2_w, grad.fc2_b);                         //  7
    fc_grad_input(d.fc2_out, in.fc2_w, d.relu3_out);                       //  8
    relu_grad_input(d.relu3_out, call.fc1_out, d.fc1_out);                 //  9
    fc_grad_weight(d.fc1_out, call.pool2_out, grad.fc1_w);                 // 10
    fc_grad_bias(d.fc1_out, in.fc1_w, grad.fc1_b);                         // 11
    fc_grad_input(d.fc1_out, in.fc1_w, d.pool2_out);                       // 12
    maxpool_grad_input(d.pool2_out, call.pool2_index, d.relu2_out);        // 13
    relu_grad_input(d.relu2_out, call.conv2_out, d.conv2_out);             // 14
    conv_grad_weight(d.conv2_out, call.pool1_out, grad.conv2_w);           // 15
    conv_grad_bias(d.conv2_out, call.pool1_out, in.conv2_w, grad.conv2_b); // 16
    conv_grad_input(d.conv2_out, in.conv2_w, d.pool1_out);                 // 17
    maxpool_grad_input(d.pool1_out, call.pool1_index, d.relu1_out);        // 18
    relu_grad_input(d.relu1_out, call.conv1_out, d.conv1_out);             // 19
    conv_grad_weight(d.conv1_out, call.image, grad.conv1_w);               // 20
    conv_grad_bias(d.conv1_out, call.image, in.conv1_w, grad.conv1_b);     // 21
    if (call.wants_dimage()) conv_grad_input(d.conv1_out, in.conv1_w, call.dimage);  // 22
}

}  // namespace gradverify::lenet5
