// SPDX-License-Identifier: Apache-2.0
// The operators relayout and relayout_filter as a kernel author sees them: x is copied to y element
// for element, and the two lie in different layouts.
//
//   y[i] = x[i],  dx[i] = dy[i]
//
// A kernel says which layouts it takes, `.layout("x", "nchw").layout("y", "nhwc")`; images have
// those of conv's x, filters those of its w.
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

namespace gradverify::relayout_filter {

/// **Shapes** x, y `o, i, filter`, with one to three spatial axes.
struct Forward : Pass<"relayout_filter", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), y = tensor("y");
};

/// **Shapes** dy, dx `o, i, filter`.
struct GradInput : Pass<"relayout_filter", "grad_input"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), dx = tensor("dx");
};

}  // namespace gradverify::relayout_filter
