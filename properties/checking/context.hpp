// SPDX-License-Identifier: Apache-2.0
// What every property starts from. Knows no particular property or operator.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "properties/checking/caller.hpp"
#include "properties/checking/inputs.hpp"
#include "properties/checking/oracle.hpp"

namespace gradverify {

/// A case with its values, what its kernel must give, and the calls that show what it gives.
class CaseContext : public Subject {
  public:
    /// **Errors** those of Subject and CaseInputs.
    CaseContext(const Case& checked, const Registry& registry, ValueKind kind)
        : Subject(checked, registry, kind),
          inputs(*this),
          oracle(*this, inputs),
          caller(*this, inputs) {}
    CaseContext(const CaseContext&) = delete;
    CaseContext& operator=(const CaseContext&) = delete;

    CaseInputs inputs;
    Oracle oracle;
    Caller caller;
};

/// Failed where a launch failed, or wrote where it must not; else nothing.
std::optional<Outcome> failed_call(const CallResult& result);
/// The same, or failed where no stream orders the call's work, though its results may be right.
std::optional<Outcome> failed_or_unordered(const CallResult& result);

/// Compares each output of a call that its setting asks for.
std::vector<Comparison> compare_outputs(const CallResult& result,
                                        const std::vector<Expected>& expected,
                                        const Setting& setting = {});

/// Begins the message of a failure with the wrong elements that the kernel has not written: their
/// numbers are those of the memory.
void lead_with_unwritten(Outcome& outcome, const PassSpec& pass, const CallResult& result);

/// Whether the case's kernel gave what it must, on the case's own inputs and in its setting.
bool is_right(CaseContext& context, const CallResult& result);

/// Whether this is another kernel that can be called on the case's problem and device, and whose
/// results on integers may be compared exactly.
bool can_be_partner(const CaseContext& context, const Kernel& kernel);

/// The pass's kernels, those of the CPU device first: a case has the same partner on each device,
/// which is none of a library's that makes a plan for each problem.
std::vector<const Kernel*> partners_in_turn(const Registry& registry, const PassSpec& pass);

/// The first forward kernel of the case's operator on its device that gives the reference's very
/// numbers on the case's values, and is not known to be `unsound`; null for none.
const Kernel* sound_forward(CaseContext& context, const std::set<const Kernel*>& unsound = {});
/// Why there is none that is sound: no forward kernel is registered, can be called, or is right.
std::string why_no_forward(CaseContext& context);

/// The forward pass's inputs, one of them moved along a direction.
std::vector<Array<double>> inputs_along(CaseContext& context, const std::string& tensor,
                                        const Array<double>& direction);

/// Inputs on which a forward kernel gives its own derivative J v, if the operator is a sum of
/// products: the direction for `tensor`, and zeros for each tensor that is in no product with it.
std::vector<Array<double>> tangent_inputs(CaseContext& context, const std::string& tensor,
                                          const Array<double>& direction);

double inner_product(const Array<double>& a, const Array<double>& b);
/// The inner product of the forward pass's outputs with their cotangents.
double with_cotangents(CaseContext& context, const std::vector<Array<double>>& outputs);

}  // namespace gradverify
