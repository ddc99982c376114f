// SPDX-License-Identifier: Apache-2.0
// The operator relu as a kernel author sees it, on a tensor of any shape.
//
//   y[i] = x[i] where x[i] > 0, else 0;  NaN where x[i] is NaN
//   dx[i] = dy[i] where x[i] > 0, else 0
//
// The gradient's mask is the pre-activation, and at zero (and NaN) the gradient is zero.
#pragma once

#include "harness/pass.hpp"

namespace gradverify::relu {

/// **Shapes** x, y `n`.
struct Forward : Pass<"relu", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), y = tensor("y");
    std::int64_t n = size("n");
};

/// **Shapes** dy, x, dx `n`.
struct GradInput : Pass<"relu", "grad_input"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), x = tensor("x"), dx = tensor("dx");
    std::int64_t n = size("n");
};

}  // namespace gradverify::relu
