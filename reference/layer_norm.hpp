// SPDX-License-Identifier: Apache-2.0
// The operator layer_norm as a kernel author sees it. Each row is normalised by itself:
//
//   y[r,j] = (x[r,j] - mean[r]) rstd[r] gamma[j] + beta[j]
//   mean[r] = the mean of row r;  rstd[r] = 1 / sqrt(variance of row r + eps)
//
// with the variance divided by width. The forward pass saves mean and rstd for the backward pass.
#pragma once

#include "harness/pass.hpp"

namespace gradverify::layer_norm {

/// **Shapes** x, y `rows, width`; gamma, beta `width`; mean, rstd `rows`.
struct Forward : Pass<"layer_norm", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), gamma = tensor("gamma"), beta = tensor("beta");
    TensorView y = tensor("y"), mean = tensor("mean"), rstd = tensor("rstd");
    std::int64_t rows = size("rows"), width = size("width");
    float eps = attribute("eps");
};

/// **Shapes** dy, x, dx `rows, width`; gamma, dgamma, dbeta `width`; mean, rstd `rows`.
struct Backward : Pass<"layer_norm", "backward"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), x = tensor("x"), gamma = tensor("gamma");
    TensorView mean = tensor("mean"), rstd = tensor("rstd");
    TensorView dx = tensor("dx"), dgamma = tensor("dgamma"), dbeta = tensor("dbeta");
    std::int64_t rows = size("rows"), width = size("width");
};

/// The derivative of y along tangents. **Shapes** of the tensors without the "t".
struct Jvp : Pass<"layer_norm.forward", "jvp"> {
    using Pass::Pass;
    TensorView x = tensor("x"), gamma = tensor("gamma");
    TensorView mean = tensor("mean"), rstd = tensor("rstd");
    TensorView tx = tensor("tx"), tgamma = tensor("tgamma"), tbeta = tensor("tbeta");
    TensorView ty = tensor("ty");
    std::int64_t rows = size("rows"), width = size("width");
};

/// Gradients of backward, by its dy, by x and by gamma, from the cotangents ddx, ddgamma and ddbeta
/// of what it yields. **Shapes** of the tensors without "d".
struct GradDy : Pass<"layer_norm.backward", "grad_dy"> {
    using Pass::Pass;
    TensorView ddx = tensor("ddx"), ddgamma = tensor("ddgamma"), ddbeta = tensor("ddbeta");
    TensorView x = tensor("x"), gamma = tensor("gamma");
    TensorView mean = tensor("mean"), rstd = tensor("rstd");
    TensorView ddy = tensor("ddy");
    std::int64_t rows = size("rows"), width = size("width");
};
struct GradX : Pass<"layer_norm.backward", "grad_x"> {
    using Pass::Pass;
    TensorView ddx = tensor("ddx"), ddgamma = tensor("ddgamma"), dy = tensor("dy");
    TensorView x = tensor("x"), gamma = tensor("gamma");
    TensorView mean = tensor("mean"), rstd = tensor("rstd");
    TensorView dx = tensor("dx");
    std::int64_t rows = size("rows"), width = size("width");
};
struct DoubleBackward : Pass<"layer_norm.backward", "double_backward"> {
    using Pass::Pass;
    TensorView ddx = tensor("ddx"), ddgamma = tensor("ddgamma"), ddbeta = tensor("ddbeta");
    TensorView dy = tensor("dy"), x = tensor("x"), gamma = tensor("gamma");
    TensorView mean = tensor("mean"), rstd = tensor("rstd");
    TensorView ddy = tensor("ddy"), dx = tensor("dx"), dgamma = tensor("dgamma");
    std::int64_t rows = size("rows"), width = size("width");
};

}  // namespace gradverify::layer_norm
