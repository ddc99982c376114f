// SPDX-License-Identifier: Apache-2.0
// The operator fc, a fully connected layer, as a kernel author sees it. Each of `n` rows of `c`
// features becomes one of `k`:
//
//   y[n,k] = b[k] + sum over c of x[n,c] w[k,c]
//
// so y = x w^T + b, and its gradients are dx = dy w, dw = dy^T x, and db, the sum of dy's rows.
#pragma once

#include "harness/pass.hpp"

namespace gradverify::fc {

/// **Shapes** x `n, c`; w `k, c`; b `k`; y `n, k`.
struct Forward : Pass<"fc", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), w = tensor("w"), b = tensor("b"), y = tensor("y");
    std::int64_t n = size("n"), c = size("c"), k = size("k");
};

/// **Shapes** dy `n, k`; w `k, c`; dx `n, c`.
struct GradInput : Pass<"fc", "grad_input"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), w = tensor("w"), dx = tensor("dx");
    std::int64_t n = size("n"), c = size("c"), k = size("k");
};

/// **Shapes** dy `n, k`; x `n, c`; dw `k, c`.
struct GradWeight : Pass<"fc", "grad_weight"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), x = tensor("x"), dw = tensor("dw");
    std::int64_t n = size("n"), c = size("c"), k = size("k");
};

/// **Shapes** dy `n, k`; db `k`.
struct GradBias : Pass<"fc", "grad_bias"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), db = tensor("db");
    std::int64_t n = size("n"), k = size("k");
};

}  // namespace gradverify::fc
