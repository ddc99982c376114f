// SPDX-License-Identifier: Apache-2.0
// The sizes of lenet5's layers, and the steps of its passes. For lenet5.cpp and lenet5_steps.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "harness/operators/operator.hpp"

namespace gradverify::lenet5 {

/// Height and width.
using Plane = std::array<std::int64_t, 2>;

struct Network {
    std::int64_t n, c, k1, k2, hidden1, hidden2, classes;
    Plane image, filter, window, conv1, pool1, conv2, pool2;

    explicit Network(const Problem& problem);

    /// Whether each layer has pixels left.
    bool is_valid() const { return pool2[0] > 0 && pool2[1] > 0; }
    /// The inputs of fc1.
    std::int64_t features() const { return k2 * pool2[0] * pool2[1]; }
};

/// The eleven layers up to the logits, and the loss.
std::vector<Step> forward_steps();
std::vector<Step> loss_step();
/// The backward pass: step 1, to the logits; then, to conv1's parameters; and, of lenet5_logits
/// alone, to the image.
std::vector<Step> loss_gradient_step();
std::vector<Step> backward_steps();
std::vector<Step> image_gradient_step();

}  // namespace gradverify::lenet5
