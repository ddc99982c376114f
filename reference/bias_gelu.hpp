// SPDX-License-Identifier: Apache-2.0
// The operator bias_gelu as a kernel author sees it.
//
//   y[r,j] = z Phi(z),  z = x[r,j] + bias[j],  Phi(z) = (1 + erf(z / sqrt 2)) / 2
#pragma once

#include "harness/pass.hpp"

namespace gradverify::bias_gelu {

/// **Shapes** x `rows, width`; bias `width`; y `rows, width`.
struct Forward : Pass<"bias_gelu", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), bias = tensor("bias"), y = tensor("y");
    std::int64_t rows = size("rows"), width = size("width");
};

/// **Shapes** dy, x, dx `rows, width`; bias, dbias `width`.
struct Backward : Pass<"bias_gelu", "backward"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), x = tensor("x"), bias = tensor("bias");
    TensorView dx = tensor("dx"), dbias = tensor("dbias");
    std::int64_t rows = size("rows"), width = size("width");
};

}  // namespace gradverify::bias_gelu
