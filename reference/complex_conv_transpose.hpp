// SPDX-License-Identifier: Apache-2.0
// The operator complex_conv_transpose as a kernel author sees it: conv_transpose on complex
// numbers, as complex_conv is conv. Its tensors have one more axis at the end, of two numbers, the
// real and the imaginary part. Needs neither Eigen nor CUDA, and holds no index arithmetic.
//
//   y[n,k,i*stride + f*dilation - padding] = b[k] + sum over c, i, f of x[n,c,i] * w[c,k,f]
//
// A gradient is PyTorch's. With a' the conjugate of a,
//
//   dx[n,c,i] = sum of dy[n,k,o] * w[c,k,f]'   dw[c,k,f] = sum of dy[n,k,o] * x[n,c,i]'
//   db[k] = sum of dy[n,k,o]
//
// over all products of the forward pass.
#pragma once

#include "harness/pass.hpp"
#include "reference/conv_transpose.hpp"

namespace gradverify::complex_conv_transpose {

/// y = complex_conv_transpose(x, w) + b.
///
/// **Shapes** x `n, c, in, 2`; w `c, k/groups, filter, 2`; b `k, 2`; y `n, k, out, 2`.
struct Forward : Pass<"complex_conv_transpose", "forward"> {
    using Pass::Pass;
    conv_transpose::Parameters problem{Pass::problem()};
    TensorView x = tensor("x"), w = tensor("w"), b = tensor("b"), y = tensor("y");
};

/// **Shapes** dy `n, k, out, 2`; w `c, k/groups, filter, 2`; dx `n, c, in, 2`.
struct GradInput : Pass<"complex_conv_transpose", "grad_input"> {
    using Pass::Pass;
    conv_transpose::Parameters problem{Pass::problem()};
    TensorView dy = tensor("dy"), w = tensor("w"), dx = tensor("dx");
};

/// **Shapes** dy `n, k, out, 2`; x `n, c, in, 2`; dw `c, k/groups, filter, 2`.
struct GradWeight : Pass<"complex_conv_transpose", "grad_weight"> {
    using Pass::Pass;
    conv_transpose::Parameters problem{Pass::problem()};
    TensorView dy = tensor("dy"), x = tensor("x"), dw = tensor("dw");
};

/// **Shapes** dy `n, k, out, 2`; db `k, 2`.
struct GradBias : Pass<"complex_conv_transpose", "grad_bias"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), db = tensor("db");
};

/// dx, dw and db in one call; of a kernel that declares `takes_mask()` those that it `wants`.
///
/// **Shapes** dy `n, k, out, 2`; x, dx `n, c, in, 2`; w, dw `c, k/groups, filter, 2`; db `k, 2`.
struct Backward : Pass<"complex_conv_transpose", "backward"> {
    using Pass::Pass;
    conv_transpose::Parameters problem{Pass::problem()};
    TensorView dy = tensor("dy"), x = tensor("x"), w = tensor("w");
    TensorView dx = tensor("dx"), dw = tensor("dw"), db = tensor("db");
};

}  // namespace gradverify::complex_conv_transpose
