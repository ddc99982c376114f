// SPDX-License-Identifier: Apache-2.0
// Decides whether a gradient g of an operator with a forward function f is right along directions:
//
//   <g, v> lies between the one-sided derivatives of <dy, f(x + h v)> at h = 0
//
// within the gradient's rounding bound. The derivatives are exact, by dual numbers; where both
// sides agree, differences of f's values must agree with them too. At a kink (ReLU at 0, a tie of a
// maximum) the two sides span an interval for each element of f, which also includes the derivative
// by f's own branches.
#pragma once

#include "properties/checking/context.hpp"

namespace gradverify {

/// One gradient that a pass yields: the tensor, the kernel's values, and their bounds.
struct BoundedGradient {
    std::string tensor;
    Array<double> values;
    std::vector<Bound> bounds;
    /// The gradient by the branches that the forward function takes.
    std::vector<double> by_branches;
};

/// Sets to zero, in a gradient or a direction, each element whose bound has no limit, and accepts
/// it.
void leave_out_unbounded(const std::vector<Bound>& bounds, Array<double>& values);

/// Whether the problem is small enough for a direction along each of the gradient's elements.
bool moves_each_element(const CaseContext& context, const BoundedGradient& gradient);

/// Compares along random directions, and along each element where the problem is small. Errored
/// where the forward function's derivative contradicts its values.
Outcome matches_derivatives_along(CaseContext& context,
                                  const std::vector<BoundedGradient>& gradients);

}  // namespace gradverify
