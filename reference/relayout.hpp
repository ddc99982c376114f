// SPDX-License-Identifier: Apache-2.0
// The operator relayout as a kernel author sees it: x is copied into y, which has another layout.
//
//   y[i] = x[i],  dx[i] = dy[i]
//
// A kernel declares layouts of conv's x: `.layout("x", "nchw").layout("y", "nhwc")`.
#pragma once

#include "harness/pass.hpp"

namespace gradverify::relayout {

/// **Shapes** x, y `n, c, in`, with one to three spatial axes.
struct Forward : Pass<"relayout", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), y = tensor("y");
};

/// **Shapes** dy, dx `n, c, in`.
struct GradInput : Pass<"relayout", "grad_input"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), dx = tensor("dx");
};

}  // namespace gradverify::relayout
