// SPDX-License-Identifier: Apache-2.0
// Decides what follows from an operator's forward function alone: the reference of each pass, its
// rounding bound, and exact derivatives along directions.
#pragma once

#include <functional>
#include <memory>

#include "harness/numbers/autodiff/dual.hpp"
#include "harness/numbers/autodiff/tape.hpp"
#include "harness/operators/forward_call.hpp"

namespace gradverify {

/// A forward function on each scalar. With `= {}`, GCC does not warn of those that are left out.
struct ForwardFunctions {
    std::function<void(const ForwardCall<double>&)> values = {};
    std::function<void(const ForwardCall<Bounded>&)> bounds = {};
    std::function<void(const ForwardCall<Dual>&)> directions = {};
    std::function<void(const ForwardCall<Traced>&)> gradients = {};
    /// At a tie the branch that the forward function takes defines the gradient.
    bool branches_decide = false;
    /// No gradient is asked for.
    bool is_forward_alone = false;
};

/// Zeros for each output.
template <class T>
std::vector<Array<T>> outputs_of(const Operator& op, const Problem& problem) {
    std::vector<Array<T>> outputs;
    for (const TensorSpec& tensor : op.outputs) outputs.push_back(filled<T>(tensor.sizes(problem)));
    return outputs;
}

/// Sets a pass's references to a function of the pass's tensors, which are the inputs and outputs
/// of `tensors`. The bounded one throws UndecidedComparison(undecided).
void set_references(PassSpec& pass, const std::shared_ptr<const Operator>& tensors,
                    const ForwardFunctions& functions, const std::string& undecided);

/// The passes of an operator whose tensors are known, from its forward function.
class DerivedPasses {
  public:
    /// **Ranges** `op` has its name, space, inputs and outputs; they are copied.
    DerivedPasses(Operator op, ForwardFunctions functions);

    PassSpec forward() const;
    /// The gradients by some inputs. **Ranges** `outputs` are "dx" for differentiable inputs x.
    PassSpec gradient(std::string name, std::vector<std::string> inputs,
                      const std::vector<std::string>& outputs) const;
    /// See Operator::along.
    ValueAlong along(const Problem& problem, Inputs<double> inputs, std::size_t which,
                     const Array<double>& direction, Inputs<double> cotangents) const;

  private:
    struct Parts {
        Operator op;
        ForwardFunctions functions;
    };
    std::shared_ptr<const Parts> parts_;
};

}  // namespace gradverify
