// SPDX-License-Identifier: Apache-2.0
// Decides which inputs make a forward kernel compute its own derivative J v, for an operator that
// is a sum of products of its inputs.
#pragma once

#include <string>
#include <vector>

#include "properties/checking/context.hpp"

namespace gradverify {

/// The forward pass's inputs with `tensor` replaced by the direction, and every tensor that is in
/// no product with it zero, so that the forward map becomes linear in the direction.
std::vector<Array<double>> tangent_inputs(CaseContext& context, const std::string& tensor,
                                          const Array<double>& direction);

}  // namespace gradverify
