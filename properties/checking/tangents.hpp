// SPDX-License-Identifier: Apache-2.0
// Decides whether the tangents t' = J(x) t that a kernel of the forward mode gives are right beside
// the operator that it is the derivative of, which is registered, too:
//
//   <r, t'> = d/dh <r, f(x + h t)> at h = 0    for random r, and for each element of t'
//   <r, t'> = <J(x)^T r, t>                    with J^T r by a registered kernel of a gradient
//
// within the rounding bounds of both. Each input's tangent is taken by itself where a gradient is.
#pragma once

#include "properties/checking/context.hpp"

namespace gradverify {

/// Whether a pass yields a gradient by an input.
bool yields_gradients(const Operator& op, const PassSpec& pass);
/// Whether a pass yields tangents: it is no forward pass, and yields no gradient.
bool yields_tangents(const Operator& op, const PassSpec& pass);

/// By exact derivatives of the forward function along the tangents.
Outcome tangents_match_derivatives(CaseContext& context);
/// By gradients of other kernels that are right on the problem.
Outcome tangents_match_gradients(CaseContext& context);

}  // namespace gradverify
