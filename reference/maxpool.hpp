// SPDX-License-Identifier: Apache-2.0
// The operator maxpool as a kernel author sees it: the maximum over windows of an image, NCHW, and
// its place in the plane.
//
//   y[n,c,o] = the largest x[n,c,p] over the pixels p of window o that lie inside the image
//   index[n,c,o] = h * W + w of that pixel
//   dx[n,c,p] = the sum of dy[n,c,o] over the windows o whose index is p
//
// Window o of an axis has the pixels o * stride + t * dilation - padding, t = 0 ... window - 1, and
// there are floor((in + 2 padding - dilation (window - 1) - 1) / stride) + 1 windows, none where
// one is larger than the padded image. The first of equal pixels, row by row, is the largest. A
// window with a NaN gives NaN, and the index of its last one. The padding is at most half of what a
// window spans, and every window has a pixel of the image.
#pragma once

#include "reference/pool_axis.hpp"

namespace gradverify::maxpool {

/// **Shapes** x `n, c, h, w`; y, index `n, c, output h, output w`, index of int32.
struct Forward : Pass<"maxpool", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), y = tensor("y"), index = tensor("index");
    std::int64_t n = size("n"), c = size("c");
    PoolAxis h = pool_axis(*this, 0), w = pool_axis(*this, 1);
    std::int64_t dilation_h = size("dilation", 0), dilation_w = size("dilation", 1);
};

/// **Shapes** dy, index `n, c, output h, output w`, index of int32; dx `n, c, h, w`.
struct GradInput : Pass<"maxpool", "grad_input"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), index = tensor("index"), dx = tensor("dx");
    std::int64_t n = size("n"), c = size("c");
    PoolAxis h = pool_axis(*this, 0), w = pool_axis(*this, 1);
    std::int64_t dilation_h = size("dilation", 0), dilation_w = size("dilation", 1);
};

}  // namespace gradverify::maxpool
