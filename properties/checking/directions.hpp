// SPDX-License-Identifier: Apache-2.0
// Decides whether a gradient g of an operator with a forward function f is right along directions:
//
//   <g, v> lies between the one-sided derivatives of <dy, f(x + h v)> at h = 0
//
// give or take the gradient's rounding bound. The derivatives are exact, by dual numbers; where
// both sides agree, differences of f's values have to agree with them too. At a kink (ReLU at 0, a
// tie of a maximum) the two sides span an interval, of each element of f by itself. What f's own
// branches give there is in it too: of the middle one of three ties it is no derivative.
#pragma once

#include "properties/checking/context.hpp"

namespace gradverify {

/// One gradient that a pass yields: the tensor, the kernel's values, and the rounding that each may
/// have.
struct BoundedGradient {
    std::string tensor;
    Array<double> values;
    std::vector<Bound> bounds;
    /// The gradient that follows from the branches which the forward function takes.
    std::vector<double> by_branches;
};

/// Sets to zero, in the gradient or in a direction, each element that may be anything: neither its
/// value nor a step along it is asked for. Without bounds nothing changes.
void leave_out_unbounded(const std::vector<Bound>& bounds, Array<double>& values);

/// Whether the problem is small enough for a direction along each of the gradient's elements.
bool moves_each_element(const CaseContext& context, const BoundedGradient& gradient);

/// Along random directions, and along each element where the problem is small. Errored where the
/// forward function's derivative contradicts its values.
Outcome matches_derivatives_along(CaseContext& context,
                                  const std::vector<BoundedGradient>& gradients);

}  // namespace gradverify
