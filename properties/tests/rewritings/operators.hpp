// SPDX-License-Identifier: Apache-2.0
// Operators whose kernels are often written by another formula: softmax over rows, and
// bent = tanh(x), bits = log(exp(x) + 1).
#pragma once

#include "harness/pass.hpp"

namespace gradverify::rewritings {

/// **Shapes** x, y `rows, width`.
struct Softmax : Pass<"rewritten_softmax", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), y = tensor("y");
    std::int64_t rows = size("rows"), width = size("width");
};

/// **Shapes** x, bent, bits `n`.
struct Squash : Pass<"rewritten_squash", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), bent = tensor("bent"), bits = tensor("bits");
    std::int64_t n = size("n");
};

}  // namespace gradverify::rewritings
