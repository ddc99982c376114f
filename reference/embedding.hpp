// SPDX-License-Identifier: Apache-2.0
// The operator embedding as a kernel author sees it: rows of a table, chosen by indices.
//
//   y[t,j] = weight[index[t], j], and zero where index[t] is the padding index
//
// so that the padding row gets no gradient. A kernel without padding declares
// .where("padding", gradverify::equals(1 << 30)), which is no row.
#pragma once

#include "harness/pass.hpp"

namespace gradverify::embedding {

/// **Shapes** index `tokens`, int32 in [0, rows); weight `rows, width`; y `tokens, width`.
struct Forward : Pass<"embedding", "forward"> {
    using Pass::Pass;
    TensorView index = tensor("index"), weight = tensor("weight"), y = tensor("y");
    std::int64_t tokens = size("tokens"), rows = size("rows"), width = size("width");
    std::int64_t padding = size("padding");
};

/// **Shapes** dy `tokens, width`; index `tokens`, int32 in [0, rows); dweight `rows, width`.
struct GradWeight : Pass<"embedding", "grad_weight"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), index = tensor("index"), dweight = tensor("dweight");
    std::int64_t tokens = size("tokens"), rows = size("rows"), width = size("width");
    std::int64_t padding = size("padding");
};

}  // namespace gradverify::embedding
