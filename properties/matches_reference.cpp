// SPDX-License-Identifier: Apache-2.0
// On integers whose sums fit the accumulation type every order of summation gives the same bits,
// so the kernel must give the reference's very numbers. (One that transforms its data first must be
// within its bound, which a missing or a doubled term of integers is far beyond; so must one on a
// problem where the operator says that it rounds nevertheless, as a mean of three.) A launch error
// or a write to a guard fails here too: no property passes over one.
#include "properties/checking/departing_step.hpp"
#include "properties/properties.hpp"

namespace gradverify {

Outcome matches_reference(CaseContext& context) {
    const auto inputs = context.inputs.of(context.pass());
    const CallResult result = context.caller.call(context.kernel(), inputs);
    if (const std::string complaint = result.complaint(); !complaint.empty())
        return Outcome::failed(complaint);
    Outcome outcome =
        combine(compare_outputs(result, context.oracle.expected(), context.checked().setting),
                "differs from the reference");
    if (outcome.verdict == Verdict::failed) outcome.message += departing_step(context, result);
    return outcome;
}

}  // namespace gradverify
