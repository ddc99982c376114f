// SPDX-License-Identifier: Apache-2.0
// Decides how a derivative and its error are estimated from values of a function of one real step.
#pragma once

#include <functional>

namespace gradverify {

/// An estimate of a derivative at zero, and an estimate of its error.
struct Derivative {
    double value = 0.0;
    double error = 0.0;
};

using FunctionOfStep = std::function<double(double step)>;

/// The derivative of a linear function, by one large step; exact when the function's values are.
Derivative linear_derivative(const FunctionOfStep& function);

/// The derivative of a smooth function: central differences at shrinking steps, extrapolated to
/// step zero in a tableau whose disagreement gives the error (Ridders, Advances in Engineering
/// Software 4(2), 1982). `step` should be a fraction of the scale on which the function changes.
/// Differences divide by the step really taken.
Derivative smooth_derivative(const FunctionOfStep& function, double step);

}  // namespace gradverify
