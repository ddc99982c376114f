// SPDX-License-Identifier: Apache-2.0
// The operator conv_transpose as a kernel author sees it: the convolution whose gradient by its
// input is conv's forward pass. Needs neither Eigen nor CUDA, and holds no index arithmetic.
//
//   y[n,k,i*stride + f*dilation - padding] = b[k] + sum over c, i, f of x[n,c,i] * w[c,k,f]
//
// wherever that lies in y, and c running over the channels of k's group. Along an axis y has
// (in - 1)*stride + dilation*(filter - 1) + 1 + output_padding - left - right elements, and none
// where that is negative. Several sizes of y have one of x: output_padding, below the stride or the
// dilation, says which.
#pragma once

#include <array>
#include <cstdint>

#include "harness/pass.hpp"

namespace gradverify::conv_transpose {

/// One spatial axis.
struct Axis {
    std::int64_t in = 1;      ///< size of x
    std::int64_t filter = 1;  ///< filter size
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t padding_left = 0, padding_right = 0;  ///< by which y is cut
    std::int64_t output_padding = 0;                   ///< by which y is longer on the right
};

/// A problem of conv_transpose. `n` images, `c` input channels, `k` output channels.
struct Parameters {
    std::int64_t n = 1, c = 1, k = 1, groups = 1;
    int rank = 0;                ///< spatial axes
    std::array<Axis, 3> axes{};  ///< outermost first: for rank 2 height, then width

    explicit Parameters(const Problem& problem);
};

/// y = conv_transpose(x, w) + b.
///
/// **Shapes** x `n, c, in`; w `c, k/groups, filter`; b `k`; y `n, k, out`.
struct Forward : Pass<"conv_transpose", "forward"> {
    using Pass::Pass;
    Parameters problem{Pass::problem()};
    TensorView x = tensor("x"), w = tensor("w"), b = tensor("b"), y = tensor("y");
};

/// dx = the gradient of <dy, y> by x.
///
/// **Shapes** dy `n, k, out`; w `c, k/groups, filter`; dx `n, c, in`.
struct GradInput : Pass<"conv_transpose", "grad_input"> {
    using Pass::Pass;
    Parameters problem{Pass::problem()};
    TensorView dy = tensor("dy"), w = tensor("w"), dx = tensor("dx");
};

/// dw = the gradient of <dy, y> by w.
///
/// **Shapes** dy `n, k, out`; x `n, c, in`; dw `c, k/groups, filter`.
struct GradWeight : Pass<"conv_transpose", "grad_weight"> {
    using Pass::Pass;
    Parameters problem{Pass::problem()};
    TensorView dy = tensor("dy"), x = tensor("x"), dw = tensor("dw");
};

/// db = the gradient of <dy, y> by b: dy summed over batch and space.
///
/// **Shapes** dy `n, k, out`; db `k`.
struct GradBias : Pass<"conv_transpose", "grad_bias"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), db = tensor("db");
};

/// dx, dw and db in one call; of a kernel that declares `takes_mask()` those that it `wants`, as
/// PyTorch's convolution_backward has it.
///
/// **Shapes** dy `n, k, out`; x, dx `n, c, in`; w, dw `c, k/groups, filter`; db `k`.
struct Backward : Pass<"conv_transpose", "backward"> {
    using Pass::Pass;
    Parameters problem{Pass::problem()};
    TensorView dy = tensor("dy"), x = tensor("x"), w = tensor("w");
    TensorView dx = tensor("dx"), dw = tensor("dw"), db = tensor("db");
};

}  // namespace gradverify::conv_transpose
