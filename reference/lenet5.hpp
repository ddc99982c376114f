// SPDX-License-Identifier: Apache-2.0
// The operator lenet5 as a kernel author sees it: a network of two convolutions, each followed by a
// ReLU and a maximum over windows, and of three fully connected layers with ReLUs between them; then
// the mean cross-entropy of a softmax. Every buffer between two layers is a tensor of the passes.
//
//   image -> conv1 -> relu1 -> pool1 -> conv2 -> relu2 -> pool2
//         -> fc1 -> relu3 -> fc2 -> relu4 -> fc3 -> probs, loss
//
// The network's own sizes are parameters, so that a wrong chain shrinks to a small network. LeNet-5
// is `k1=6,k2=16,hidden1=120,hidden2=84,classes=10,in=28x28,filter=5x5,window=2x2`.
//
// lenet5_logits is the same network up to fc3, and its gradient from a cotangent of the logits:
// there, integers stay exact through every layer.
#pragma once

#include "harness/pass.hpp"

namespace gradverify::lenet5 {

/// The parameters of the network.
///
/// **Shapes** conv1_w `k1, c, filter`; conv2_w `k2, k1, filter`; fc1_w `hidden1, pixels of
/// pool2_out`; fc2_w `hidden2, hidden1`; fc3_w `classes, hidden2`; of biases the first size.
struct Weights {
    TensorView conv1_w, conv1_b, conv2_w, conv2_b, fc1_w, fc1_b, fc2_w, fc2_b, fc3_w, fc3_b;

    /// `prefix` is "d" for the gradients.
    template <class Pass>
    static Weights of(const Pass& pass, const std::string& prefix = "") {
        const auto named = [&](const char* name) { return pass.tensor(prefix + name); };
        return {named("conv1_w"), named("conv1_b"), named("conv2_w"), named("conv2_b"),
                named("fc1_w"),   named("fc1_b"),   named("fc2_w"),   named("fc2_b"),
                named("fc3_w"),   named("fc3_b")};
    }
};

/// What flows between the layers, or its cotangents.
///
/// **Shapes** conv1_out, relu1_out `n, k1, h, w`; pool1_out `n, k1, h, w` of the windows; and so
/// on; fc1_out, relu3_out `n, hidden1`; fc2_out, relu4_out `n, hidden2`; fc3_out `n, classes`.
struct Activations {
    TensorView conv1_out, relu1_out, pool1_out, conv2_out, relu2_out, pool2_out;
    TensorView fc1_out, relu3_out, fc2_out, relu4_out, fc3_out;

    template <class Pass>
    static Activations of(const Pass& pass, const std::string& prefix = "") {
        const auto named = [&](const char* name) { return pass.tensor(prefix + name); };
        return {named("conv1_out"), named("relu1_out"), named("pool1_out"), named("conv2_out"),
                named("relu2_out"), named("pool2_out"), named("fc1_out"),   named("relu3_out"),
                named("fc2_out"),   named("relu4_out"), named("fc3_out")};
    }
};

/// **Shapes** image `n, c, h, w`; pool1_index, pool2_index as pool1_out and pool2_out, int32 offsets
/// in the plane that the maximum is taken of.
template <FixedText operator_text>
struct ForwardToLogits : Pass<operator_text, "forward"> {
    using Pass<operator_text, "forward">::Pass;
    TensorView image = this->tensor("image");
    Weights weights = Weights::of(*this);
    Activations out = Activations::of(*this);
    TensorView pool1_index = this->tensor("pool1_index"), pool2_index = this->tensor("pool2_index");
    std::int64_t window_h = this->size("window", 0), window_w = this->size("window", 1);
};

/// The gradients of the parameters and of every activation but the logits', from what the forward
/// pass saved; and of the image where it is asked for.
template <FixedText operator_text>
struct BackwardFromLogits : Pass<operator_text, "backward"> {
    using Pass<operator_text, "backward">::Pass;
    TensorView image = this->tensor("image");
    Weights weights = Weights::of(*this), gradients = Weights::of(*this, "d");
    TensorView conv1_out = this->tensor("conv1_out"), pool1_out = this->tensor("pool1_out");
    TensorView conv2_out = this->tensor("conv2_out"), pool2_out = this->tensor("pool2_out");
    TensorView fc1_out = this->tensor("fc1_out"), relu3_out = this->tensor("relu3_out");
    TensorView fc2_out = this->tensor("fc2_out"), relu4_out = this->tensor("relu4_out");
    TensorView pool1_index = this->tensor("pool1_index"), pool2_index = this->tensor("pool2_index");
    Activations cotangents = Activations::of(*this, "d");
    TensorView dimage = this->tensor("dimage");
    std::int64_t window_h = this->size("window", 0), window_w = this->size("window", 1);

    bool wants_dimage() const { return this->wants("dimage"); }
};

using LogitsForward = ForwardToLogits<"lenet5_logits">;
using LogitsBackward = BackwardFromLogits<"lenet5_logits">;

/// **Shapes** labels `n`, int32; probs `n, classes`; loss a single number.
struct Forward : ForwardToLogits<"lenet5"> {
    using ForwardToLogits::ForwardToLogits;
    TensorView labels = tensor("labels"), probs = tensor("probs"), loss = tensor("loss");
};

/// **Shapes** dloss a single number; labels `n`, int32; probs `n, classes`.
struct Backward : BackwardFromLogits<"lenet5"> {
    using BackwardFromLogits::BackwardFromLogits;
    TensorView dloss = tensor("dloss"), labels = tensor("labels"), probs = tensor("probs");
};

/// A training step without its update: the loss and its gradients by every parameter, in one call
/// that leaves no activation behind.
///
/// **Shapes** dloss and loss single numbers; labels `n`, int32.
struct LossAndGradients : Pass<"lenet5", "loss_and_gradients"> {
    using Pass::Pass;
    TensorView dloss = tensor("dloss"), image = tensor("image"), labels = tensor("labels");
    Weights weights = Weights::of(*this), gradients = Weights::of(*this, "d");
    TensorView loss = tensor("loss");
    std::int64_t window_h = size("window", 0), window_w = size("window", 1);
};

}  // namespace gradverify::lenet5
