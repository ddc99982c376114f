// SPDX-License-Identifier: Apache-2.0
// Decides what follows from a forward function on nested scalars: derivatives along tangents
// (forward mode), the gradients of those, and their derivatives along directions, with the bounds
// of autodiff/tape.hpp. Does not know how passes are named and declared: second_order.hpp does.
//
//   J t:               the tangent of f(x + h t)
//   gradients of it:   by x, of <dy, J(x) t> = <J(x)^T dy, t>, so the gradient of a gradient
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/numbers/autodiff/dual_over.hpp"
#include "harness/operators/derived_operator.hpp"

namespace gradverify {

/// What forward_call.hpp defines of other scalars; values decide.
template <class S>
std::int64_t index_of(const DualOver<S>& value) {
    return index_of(value.value());
}
template <class S>
DualOver<S> where_positive(const DualOver<S>& x, const DualOver<S>& cotangent) {
    return {where_positive(x.value(), cotangent.value()),
            where_positive(x.value(), cotangent.tangent())};
}
template <class S>
DualOver<S> taken_or_zero(const DualOver<S>& value, bool is_taken, bool is_sure) {
    return {taken_or_zero(value.value(), is_taken, is_sure),
            taken_or_zero(value.tangent(), is_taken, is_sure)};
}

/// A forward function on the scalars of second order.
struct NestedFunctions {
    std::function<void(const ForwardCall<Traced>&)> gradients = {};
    std::function<void(const ForwardCall<DualOver<Dual>>&)> directions = {};
    std::function<void(const ForwardCall<DualOver<Traced>>&)> nested_gradients = {};
    /// See ForwardFunctions.
    bool branches_decide = false;
};

/// Passes of tangents and of their gradients, for an operator whose tensors are known.
class NestedPasses {
  public:
    /// **Ranges** `op` has its name, space, inputs and outputs; they are copied.
    NestedPasses(Operator op, NestedFunctions functions);

    /// One output of a pass.
    struct Result {
        enum class Of { value, tangent, gradient } of;
        std::size_t at;  ///< the position of the operator's output, or, for a gradient, input
    };
    /// Where a reference finds what it takes.
    struct Taken {
        std::size_t inputs = 0;  ///< where the operator's inputs begin
        /// By the operator's input; none: the input does not move.
        std::vector<std::optional<std::size_t>> tangents;
        /// Where the cotangents of the operator's outputs begin, which gradients need.
        std::size_t cotangents = 0;
    };
    /// Sets a pass's references. **Errors** they throw UndecidedComparison, as derived ones do.
    void set_references(PassSpec& pass, std::vector<Result> results, Taken taken) const;

    /// <dy, J(x) t> and its derivative as x or dy moves; one of the directions is zero.
    struct Point {
        std::vector<Array<double>> inputs, tangents;  ///< by the operator's input
        std::vector<Array<double>> cotangents;        ///< by output that has one
        std::vector<Array<double>> input_steps, cotangent_steps;
    };
    ValueAlong along(const Problem& problem, const Point& point) const;

  private:
    struct Parts {
        Operator op;
        NestedFunctions functions;
    };
    std::shared_ptr<const Parts> parts_;
};

}  // namespace gradverify
