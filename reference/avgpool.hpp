// SPDX-License-Identifier: Apache-2.0
// The operator avgpool as a kernel author sees it: the mean over windows of an image, NCHW.
//
//   y[n,c,o] = the sum of x[n,c,p] over the pixels p of window o inside the image / divisor[o]
//   dx[n,c,p] = the sum of dy[n,c,o] / divisor[o] over the windows o with pixel p
//
// Window o of an axis has the pixels o * stride - padding + t, t = 0 ... window - 1. With ceil = 0
// there are floor((in + 2 padding - window) / stride) + 1 windows, none below zero. With ceil = 1
// the quotient is rounded up, and a last window that starts beyond the image and its left padding
// is left out. The padding is at most half of the window.
//
// The divisor is the number of the window's pixels inside the image, with include_pad = 1 inside
// the padded image, beyond which rounding up may let it reach. Both are PyTorch's definitions.
#pragma once

#include "reference/pool_axis.hpp"

namespace gradverify::avgpool {

/// **Shapes** x `n, c, h, w`; y `n, c, output h, output w`.
struct Forward : Pass<"avgpool", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), y = tensor("y");
    std::int64_t n = size("n"), c = size("c");
    PoolAxis h = pool_axis(*this, 0), w = pool_axis(*this, 1);
    bool include_pad = size("include_pad") != 0;
};

/// **Shapes** dy `n, c, output h, output w`; dx `n, c, h, w`.
struct GradInput : Pass<"avgpool", "grad_input"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), dx = tensor("dx");
    std::int64_t n = size("n"), c = size("c");
    PoolAxis h = pool_axis(*this, 0), w = pool_axis(*this, 1);
    bool include_pad = size("include_pad") != 0;
};

}  // namespace gradverify::avgpool
