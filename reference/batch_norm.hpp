// SPDX-License-Identifier: Apache-2.0
// The operator batch_norm in training mode as a kernel author sees it. Each channel is normalised
// over the batch and its pixels:
//
//   y[n,c,p] = (x[n,c,p] - mean[c]) rstd[c] gamma[c] + beta[c]
//   mean[c] = the mean of channel c;  rstd[c] = 1 / sqrt(variance of channel c + eps)
//   new_running_mean = (1 - momentum) running_mean + momentum mean
//   new_running_var  = (1 - momentum) running_var + momentum variance m / (m - 1)
//
// where m = n pixels counts a channel's elements. The variance is divided by m, and the last factor
// is 1 for m = 1. The forward pass saves mean and rstd for the backward pass.
#pragma once

#include "harness/pass.hpp"

namespace gradverify::batch_norm {

/// **Shapes** x, y `n, c, pixels`; all others `c`.
struct Forward : Pass<"batch_norm", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), gamma = tensor("gamma"), beta = tensor("beta");
    TensorView running_mean = tensor("running_mean"), running_var = tensor("running_var");
    TensorView y = tensor("y"), mean = tensor("mean"), rstd = tensor("rstd");
    TensorView new_running_mean = tensor("new_running_mean");
    TensorView new_running_var = tensor("new_running_var");
    std::int64_t n = size("n"), c = size("c"), pixels = size("pixels");
    float eps = attribute("eps"), momentum = attribute("momentum");
};

/// **Shapes** dy, x, dx `n, c, pixels`; all others `c`.
struct Backward : Pass<"batch_norm", "backward"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), x = tensor("x"), gamma = tensor("gamma");
    TensorView mean = tensor("mean"), rstd = tensor("rstd");
    TensorView dx = tensor("dx"), dgamma = tensor("dgamma"), dbeta = tensor("dbeta");
    std::int64_t n = size("n"), c = size("c"), pixels = size("pixels");
};

}  // namespace gradverify::batch_norm
