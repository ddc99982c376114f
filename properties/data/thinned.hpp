// SPDX-License-Identifier: Apache-2.0
// Decides which integers the tensors of a piecewise polynomial operator hold, where sums grow from
// layer to layer: as large and as many as leave every number of every pass exact. The operator's
// own references say how large sums become. Does not call kernels.
#pragma once

#include "harness/registry/element_types.hpp"
#include "properties/data/values.hpp"

namespace gradverify {

/// Integers for all inputs and cotangents of floating types; indices as elsewhere. From large and
/// dense to few of magnitude one, the first that fit; dense draws keep to those without zeros as
/// long as some fit.
///
/// **Errors** std::logic_error when none do, as for a constant in the formula beyond 2^p.
Values draw_thinned(const Operator& op, const Problem& problem, const Data& data,
                    const ElementTypes& types);

}  // namespace gradverify
