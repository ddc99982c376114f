// SPDX-License-Identifier: Apache-2.0
// The operator lenet5 as a kernel author sees it: a network with the mean cross-entropy of a
// softmax. Every buffer between two layers is a tensor of the passes.
//
//   image -> conv1 -> relu1 -> pool1 -> conv2 -> relu2 -> pool2
//         -> fc1 -> relu3 -> fc2 -> relu4 -> fc3 -> probs, loss
//
// The network's sizes are parameters, so that a wrong chain shrinks to a small network. LeNet-5 is
// `k1=6,k2=16,hidden1=120,hidden2=84,classes=10,in=28x28,filter=5x5,window=2x2`. Convolutions have
// stride 1 and no padding; windows lie side by side, and pixels that fill none are left out.
// lenet5_steps.cpp lists the steps of the passes. lenet5_logits is the same network up to fc3,
// where integers stay exact through every layer.
//
// **Shapes** image `n, c, h, w`; conv1_w `k1, c, filter`; conv2_w `k2, k1, filter`; fc1_w `hidden1,
// pixels of pool2_out`; fc2_w `hidden2, hidden1`; fc3_w `classes, hidden2`; a bias has the first
// size. conv1_out, relu1_out `n, k1, h, w`; pool1_out `n, k1, h, w` of the windows, and so on;
// fc1_out, relu3_out `n, hidden1`; fc2_out, relu4_out `n, hidden2`; fc3_out and probs `n, classes`;
// pool1_index, pool2_index as pool1_out and pool2_out, int32 offsets in the plane; labels `n`,
// int32; loss a single number. A gradient ("dconv1_w", "dconv1_out") has its tensor's shape.
#pragma once

#include "harness/pass.hpp"

namespace gradverify::lenet5 {

/// To the loss; saves every activation.
struct Forward : Pass<"lenet5", "forward"> {
    using Pass::Pass;
};
/// The gradients of parameters and activations, from what the forward pass saved: 21 steps.
struct Backward : Pass<"lenet5", "backward"> {
    using Pass::Pass;
};

/// To the logits.
struct LogitsForward : Pass<"lenet5_logits", "forward"> {
    using Pass::Pass;
};
/// From a cotangent of the logits; the image's gradient too.
struct LogitsBackward : Pass<"lenet5_logits", "backward"> {
    using Pass::Pass;
};

}  // namespace gradverify::lenet5
