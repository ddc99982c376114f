// SPDX-License-Identifier: Apache-2.0
// For property tests of your own: rapidcheck generators over the kernels that the executable knows.
//
//   rc::check("twice the cotangent gives twice the gradient", [] {
//       const auto drawn = *gradverify::gen::cases("conv.grad_bias/mine");
//       gradverify::Tensors inputs = drawn.inputs();
//       for (double& element : inputs.at("dy").data) element *= 2.0;
//       ...
//       RC_ASSERT(drawn.call(inputs).at("db").data == twice(drawn.call()).at("db").data);
//   });
//
// A case that fails shrinks as `gradverify check` shrinks it, and rapidcheck's report has the line
// that replays it. A kernel that crashes or hangs takes the test's process with it.
#pragma once

#include <rapidcheck/Gen.h>

#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "harness/cases/case.hpp"
#include "harness/operators/operator.hpp"

namespace gradverify {

/// Values by the name of their tensor.
using Tensors = std::map<std::string, Array<double>, std::less<>>;

/// A case that can be run.
class DrawnCase {
  public:
    /// **Errors** std::invalid_argument when the kernel or its property does not exist, or must not
    /// be given this problem, data or setting.
    explicit DrawnCase(Case of);
    /// A case once more, from the word that its replay line holds: `v1:conv.grad_bias/mine:...`.
    ///
    /// **Errors** std::invalid_argument, also as above.
    static DrawnCase parse(std::string_view word);

    const Case& as_case() const;
    const Problem& problem() const { return as_case().problem; }

    /// The kernel's inputs, each number one of its tensor's type.
    Tensors inputs() const;
    /// The kernel's outputs, in the case's setting. The case is discarded where the device does not
    /// serve the kernel, or the kernel refuses the problem as it declares.
    ///
    /// **Errors** std::runtime_error when a launch failed or wrote outside of its buffers.
    Tensors call() const { return call(inputs()); }
    /// The same on inputs of these sizes.
    Tensors call(const Tensors& inputs) const;
    /// The reference's outputs on the case's inputs.
    Tensors expected() const;
    /// How outputs differ from what is expected: exactly on integers, else by more than rounding
    /// explains. Empty where they don't.
    std::string difference(const Tensors& outputs) const;

  private:
    struct State;
    std::shared_ptr<State> state_;
};

/// `gradverify repro 'v1:...'`, which asks the case's own property; rapidcheck's report shows it.
void showValue(const DrawnCase& drawn, std::ostream& out);
void showValue(const Problem& problem, std::ostream& out);

/// Generators for a kernel, by its full name; what they throw is reported as the test's failure.
///
/// **Errors** std::invalid_argument that says what there is instead.
namespace gen {

/// Problems that the kernel supports. They shrink in the order of problems.
rc::Gen<Problem> problems(std::string_view kernel);
/// The data of a problem, and how the kernel is called on it. They compose to cases, as below.
rc::Gen<Data> data(std::string_view kernel, const Problem& problem,
                   std::string_view property = "matches_reference");
rc::Gen<Setting> settings(std::string_view kernel, const Problem& problem);

/// Problem, data and setting together. The property decides on the data: `matches_reference` has
/// small integers, whose sums are exact; `within_rounding_bound` numbers with all their digits.
rc::Gen<DrawnCase> cases(std::string_view kernel, std::string_view property = "matches_reference",
                         std::string_view device = "cpu");

}  // namespace gen
}  // namespace gradverify
