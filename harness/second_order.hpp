// SPDX-License-Identifier: Apache-2.0
// The public way to declare passes of second order and of the forward mode, from an operator and
// its forward function; see docs/own-operator.md.
//
//   constexpr auto forward = []<class T>(const ForwardCall<T>& call) { ... };
//
//   Operator tanh() { return declare_operator("tanh")...forward(forward); }
//   Operator backward() { return declare_backward(tanh(), forward); }
//   Operator jvp() { return declare_jvp(tanh(), forward); }
//   GRADVERIFY_OPERATOR(tanh);
//   GRADVERIFY_OPERATOR(backward);
//   GRADVERIFY_OPERATOR(jvp);
//
// The operator "tanh.backward" is the map from inputs x and cotangents dy to gradients dx. Its
// passes are gradients of it: `grad_dy` takes ddx, the cotangent of dx, and yields ddy; `grad_x`
// takes ddx and dy and yields dx, the gradient of <ddx, backward(x, dy)> by x.
//
// The operator "tanh.forward" has the pass `jvp`, which takes x and its tangent tx and yields ty,
// the derivative of y along tx.
//
// The forward function is compiled for two scalars more, in the files that ask for it alone.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/declare_operator.hpp"
#include "harness/operators/nested_passes.hpp"

namespace gradverify {

/// The gradient of an operator as an operator, in the making. The registry says all mistakes.
class BackwardDeclaration {
  public:
    BackwardDeclaration(Operator of, NestedFunctions functions)
        : of_(std::move(of)), functions_(std::move(functions)) {}

    /// A pass. It takes cotangents of gradients ("ddx"; those that it does not take are zero),
    /// cotangents ("dy"), inputs and outputs of the operator, and yields "ddy", the gradient by
    /// dy, and "dx", that by x. If none is declared, there is one for each gradient, `grad_dy` and
    /// `grad_x`, that takes all cotangents and inputs.
    BackwardDeclaration& gradient(std::string name, std::vector<std::string> inputs,
                                  std::vector<std::string> outputs) {
        passes_.push_back({std::move(name), std::move(inputs), std::move(outputs)});
        return *this;
    }
    /// As OperatorDeclaration::branches_decide, which does not hold here by itself.
    BackwardDeclaration& branches_decide() {
        functions_.branches_decide = true;
        return *this;
    }

    operator Operator() const;

  private:
    struct PassDeclaration {
        std::string name;
        std::vector<std::string> inputs, outputs;
    };
    std::vector<PassDeclaration> passes_or_default(const Operator& op) const;

    Operator of_;
    NestedFunctions functions_;
    std::vector<PassDeclaration> passes_;
};

/// The derivative of an operator along tangents, in the making.
class JvpDeclaration {
  public:
    JvpDeclaration(Operator of, NestedFunctions functions)
        : of_(std::move(of)), functions_(std::move(functions)) {}

    /// What the pass `jvp` takes: inputs, tangents ("tx"; an input whose tangent it does not take
    /// does not move) and outputs; and what it yields: tangents of outputs ("ty") and outputs. By
    /// default it takes all inputs and tangents, and yields all tangents.
    JvpDeclaration& jvp(std::vector<std::string> inputs, std::vector<std::string> outputs) {
        inputs_ = std::move(inputs), outputs_ = std::move(outputs);
        return *this;
    }
    /// As OperatorDeclaration::branches_decide, which does not hold here by itself.
    JvpDeclaration& branches_decide() {
        functions_.branches_decide = true;
        return *this;
    }

    operator Operator() const;

  private:
    Operator of_;
    NestedFunctions functions_;
    std::vector<std::string> inputs_, outputs_;
};

namespace detail {

template <class Function>
NestedFunctions nested_functions(const Function& forward) {
    constexpr bool is_template = ForwardOn<Function, Traced> && ForwardOn<Function, double> &&
                                 ForwardOn<Function, DualOver<Dual>> &&
                                 ForwardOn<Function, DualOver<Traced>>;
    static_assert(is_template,
                  "gradverify: the forward function must be a template over the scalar, so that "
                  "second derivatives can be derived from it: "
                  "[]<class T>(const ForwardCall<T>& call) { ... }");
    if constexpr (is_template) return {forward, forward, forward};
    return {};
}

}  // namespace detail

/// The operator "NAME.backward". `forward` is the forward function that `of` was declared with.
template <class Function>
BackwardDeclaration declare_backward(Operator of, const Function& forward) {
    return {std::move(of), detail::nested_functions(forward)};
}
/// The operator "NAME.forward", whose pass is `jvp`.
template <class Function>
JvpDeclaration declare_jvp(Operator of, const Function& forward) {
    return {std::move(of), detail::nested_functions(forward)};
}

}  // namespace gradverify
