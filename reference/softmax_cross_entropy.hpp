// SPDX-License-Identifier: Apache-2.0
// The operator softmax_cross_entropy as a kernel author sees it: the loss of a classifier, the mean
// over `n` rows of `v` logits each.
//
//   probs[i,j] = exp(logits[i,j]) / sum over l of exp(logits[i,l])
//   loss = mean over i of -log probs[i, labels[i]]
//
// whatever the size of the logits: neither may overflow, and a probability too small for a float
// still has a finite loss. The mean of an empty batch is NaN. The backward pass takes probs:
//
//   dlogits[i,j] = (probs[i,j] - (j == labels[i] ? 1 : 0)) dloss / n
//
// A label outside of [0, v) makes the loss and its own row of dlogits NaN, and nothing else. Only a
// kernel that declares with_invalid_indices() is given such labels.
#pragma once

#include "harness/pass.hpp"

namespace gradverify::softmax_cross_entropy {

/// **Shapes** logits, probs `n, v`; labels `n`, int32 in [0, v); loss a single number.
struct Forward : Pass<"softmax_cross_entropy", "forward"> {
    using Pass::Pass;
    TensorView logits = tensor("logits"), labels = tensor("labels");
    TensorView probs = tensor("probs"), loss = tensor("loss");
    std::int64_t n = size("n"), v = size("v");
};

/// **Shapes** dloss a single number; probs, dlogits `n, v`; labels `n`, int32 in [0, v).
struct Backward : Pass<"softmax_cross_entropy", "backward"> {
    using Pass::Pass;
    TensorView dloss = tensor("dloss"), probs = tensor("probs"), labels = tensor("labels");
    TensorView dlogits = tensor("dlogits");
    std::int64_t n = size("n"), v = size("v");
};

}  // namespace gradverify::softmax_cross_entropy
