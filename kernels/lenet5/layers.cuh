// SPDX-License-Identifier: Apache-2.0
// The layers of lenet5 as calls of registered kernels: which kernel, on which problem. The chains
// beside this file say in which order, and on which buffers.
#pragma once

#include <cstdint>
#include <string>

#include "harness/kernel.hpp"
#include "harness/part.hpp"
#include "reference/lenet5.hpp"

namespace gradverify::lenet5 {

/// The kernels that a chain is made of, by the pass that each implements.
struct Kernels {
    Part conv_forward, conv_grad_weight, conv_grad_bias, conv_grad_input;
    Part fc_forward, fc_grad_weight, fc_grad_bias, fc_grad_input;
    Part relu_forward, relu_grad_input;
    Part maxpool_forward, maxpool_grad_input;
    Part loss_forward, loss_backward;
};

/// The ones that a reader of a textbook would write.
inline const Kernels& simple_kernels() {
    const auto part = [](const char* name) { return Part(name, GRADVERIFY_UNIT_DEVICE); };
    static const Kernels kernels{
        .conv_forward = part("conv.forward/naive"),
        .conv_grad_weight = part("conv.grad_weight/general"),
        .conv_grad_bias = part("conv.grad_bias/general"),
        .conv_grad_input = part("conv.grad_input/naive"),
        .fc_forward = part("fc.forward/naive"),
        .fc_grad_weight = part("fc.grad_weight/naive"),
        .fc_grad_bias = part("fc.grad_bias/naive"),
        .fc_grad_input = part("fc.grad_input/naive"),
        .relu_forward = part("relu.forward/naive"),
        .relu_grad_input = part("relu.grad_input/naive"),
        .maxpool_forward = part("maxpool.forward/naive"),
        .maxpool_grad_input = part("maxpool.grad_input/scatter"),
        .loss_forward = part("softmax_cross_entropy.forward/naive"),
        .loss_backward = part("softmax_cross_entropy.backward/naive")};
    return kernels;
}

inline std::string is(const char* parameter, std::int64_t value) {
    return std::string(parameter) + "=" + std::to_string(value);
}
inline std::string is(const char* parameter, std::int64_t height, std::int64_t width) {
    return is(parameter, height) + "x" + std::to_string(width);
}

/// **Shapes** x `n, c, h, w`; w `k, c, filter`.
inline std::string conv_problem(const TensorView& x, const TensorView& w) {
    return is("n", x.size(0)) + "," + is("c", x.size(1)) + "," + is("k", w.size(0)) + "," +
           is("in", x.size(2), x.size(3)) + "," + is("filter", w.size(2), w.size(3));
}
/// **Shapes** x `n, c, h, w`. Windows that do not overlap.
inline std::string pool_problem(const TensorView& x, std::int64_t window_h, std::int64_t window_w) {
    return is("n", x.size(0)) + "," + is("c", x.size(1)) + "," +
           is("in", x.size(2), x.size(3)) + "," + is("window", window_h, window_w) + "," +
           is("stride", window_h, window_w);
}
/// **Shapes** x `n, ...`; w `k, elements of x for one n`.
inline std::string fc_problem(const TensorView& x, const TensorView& w) {
    return is("n", x.size(0)) + "," + is("c", w.size(1)) + "," + is("k", w.size(0));
}
inline std::string relu_problem(const TensorView& x) { return is("n", x.elements()); }
/// **Shapes** logits `n, classes`.
inline std::string loss_problem(const TensorView& logits) {
    return is("n", logits.size(0)) + "," + is("v", logits.size(1));
}

}  // namespace gradverify::lenet5
