// SPDX-License-Identifier: Apache-2.0
// Decides which integers the tensors of a piecewise polynomial operator hold, where sums grow from
// layer to layer: as large and as many as keep every number of every pass exact.
#pragma once

#include "harness/registry/element_types.hpp"
#include "properties/data/values.hpp"

namespace gradverify {

/// Integers for all inputs and cotangents of floating types; indices as elsewhere. The first that
/// fit are taken, from large and dense ones to few of magnitude one.
///
/// **Errors** std::logic_error when none do, as for a constant in the formula beyond 2^p.
Values draw_thinned(const Operator& op, const Problem& problem, const Data& data,
                    const ElementTypes& types);

}  // namespace gradverify
