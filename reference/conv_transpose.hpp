// SPDX-License-Identifier: Apache-2.0
// The operator conv_transpose as a kernel author sees it: its gradient by the input is conv's
// forward pass. Needs neither Eigen nor CUDA, and holds no index arithmetic.
//
//   y[n,k,i*stride + f*dilation - padding] = b[k] + sum over c, i, f of x[n,c,i] * w[c,k,f]
//
// wherever that lies in y; c runs over the channels of k's group. Along an axis y has
// (in - 1)*stride + dilation*(filter - 1) + 1 + output_padding - left - right elements, and none
// where that is negative. output_padding, below the stride or dilation, chooses a size of y. dx, dw
// and db are the gradients of <dy, y>.
#pragma once

#include "reference/conv.hpp"

namespace gradverify::conv_transpose {

/// A problem of conv_transpose. `n` images, `c` input channels, `k` output channels; `in` is the
/// size of x. Paddings cut y, and `output_padding` makes it longer on the right.
struct Parameters : conv::Parameters {
    explicit Parameters(const Problem& problem) : conv::Parameters(problem) {
        const auto output_padding = problem.all_of("output_padding");
        for (std::size_t i = 0; i < output_padding.size(); ++i)
            axes[i].output_padding = output_padding[i];
    }
};

/// **Shapes** x `n, c, in`; w `c, k/groups, filter`; b `k`; y `n, k, out`.
struct Forward : Pass<"conv_transpose", "forward"> {
    using Pass::Pass;
    Parameters problem{Pass::problem()};
    TensorView x = tensor("x"), w = tensor("w"), b = tensor("b"), y = tensor("y");
};

/// **Shapes** dy `n, k, out`; w `c, k/groups, filter`; dx `n, c, in`.
struct GradInput : Pass<"conv_transpose", "grad_input"> {
    using Pass::Pass;
    Parameters problem{Pass::problem()};
    TensorView dy = tensor("dy"), w = tensor("w"), dx = tensor("dx");
};

/// **Shapes** dy `n, k, out`; x `n, c, in`; dw `c, k/groups, filter`.
struct GradWeight : Pass<"conv_transpose", "grad_weight"> {
    using Pass::Pass;
    Parameters problem{Pass::problem()};
    TensorView dy = tensor("dy"), x = tensor("x"), dw = tensor("dw");
};

/// **Shapes** dy `n, k, out`; db `k`.
struct GradBias : Pass<"conv_transpose", "grad_bias"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), db = tensor("db");
};

/// dx, dw and db in one call, as PyTorch's convolution_backward has it. A kernel that declares
/// `takes_mask()` computes those that the call `wants`.
/// **Shapes** dy `n, k, out`; x, dx `n, c, in`; w, dw `c, k/groups, filter`; db `k`.
struct Backward : Pass<"conv_transpose", "backward"> {
    using Pass::Pass;
    Parameters problem{Pass::problem()};
    TensorView dy = tensor("dy"), x = tensor("x"), w = tensor("w");
    TensorView dx = tensor("dx"), dw = tensor("dw"), db = tensor("db");
};

}  // namespace gradverify::conv_transpose
