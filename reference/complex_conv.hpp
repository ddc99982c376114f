// SPDX-License-Identifier: Apache-2.0
// The operator complex_conv as a kernel author sees it: conv on complex numbers. Its parameters are
// conv's, and its tensors conv's with one more axis at the end, of two numbers, the real and the
// imaginary part, as torch.view_as_real has them. A launcher takes them as complex numbers by
// `call.x.as_pairs<const float2>()`. Needs neither Eigen nor CUDA, and holds no index arithmetic.
//
//   y[n,k,o] = b[k] + sum over c, f of x[n, c, o*stride + f*dilation - padding] * w[k,c,f]
//
// A gradient is PyTorch's: by the real part, plus i times that by the imaginary part, of the real
// number that a training run lowers. With dy of y so, and a' the conjugate of a,
//
//   dx[n,c,i] = sum of dy[n,k,o] * w[k,c,f]'   dw[k,c,f] = sum of dy[n,k,o] * x[n,c,i]'
//   db[k] = sum of dy[n,k,o]
//
// over all products of the forward pass. That is no more than the gradient by each number in the
// arrays, so all that holds of gradients of real numbers holds here.
#pragma once

#include "harness/pass.hpp"
#include "reference/conv.hpp"

namespace gradverify::complex_conv {

/// y = complex_conv(x, w) + b.
///
/// **Shapes** x `n, c, in, 2`; w `k, c/groups, filter, 2`; b `k, 2`; y `n, k, out, 2`.
struct Forward : Pass<"complex_conv", "forward"> {
    using Pass::Pass;
    conv::Parameters problem{Pass::problem()};
    TensorView x = tensor("x"), w = tensor("w"), b = tensor("b"), y = tensor("y");
};

/// **Shapes** dy `n, k, out, 2`; w `k, c/groups, filter, 2`; dx `n, c, in, 2`.
struct GradInput : Pass<"complex_conv", "grad_input"> {
    using Pass::Pass;
    conv::Parameters problem{Pass::problem()};
    TensorView dy = tensor("dy"), w = tensor("w"), dx = tensor("dx");
};

/// **Shapes** dy `n, k, out, 2`; x `n, c, in, 2`; dw `k, c/groups, filter, 2`.
struct GradWeight : Pass<"complex_conv", "grad_weight"> {
    using Pass::Pass;
    conv::Parameters problem{Pass::problem()};
    TensorView dy = tensor("dy"), x = tensor("x"), dw = tensor("dw");
};

/// **Shapes** dy `n, k, out, 2`; db `k, 2`.
struct GradBias : Pass<"complex_conv", "grad_bias"> {
    using Pass::Pass;
    conv::Parameters problem{Pass::problem()};
    TensorView dy = tensor("dy"), db = tensor("db");
};

/// dx, dw and db in one call; of a kernel that declares `takes_mask()` those that it `wants`.
///
/// **Shapes** dy `n, k, out, 2`; x, dx `n, c, in, 2`; w, dw `k, c/groups, filter, 2`; db `k, 2`.
struct Backward : Pass<"complex_conv", "backward"> {
    using Pass::Pass;
    conv::Parameters problem{Pass::problem()};
    TensorView dy = tensor("dy"), x = tensor("x"), w = tensor("w");
    TensorView dx = tensor("dx"), dw = tensor("dw"), db = tensor("db");
};

}  // namespace gradverify::complex_conv
