// SPDX-License-Identifier: Apache-2.0
// On integers whose sums fit the accumulation type every order of summation gives the same bits,
// so the kernel must give the reference's very numbers; on problems where the operator says that
// it rounds nevertheless, as a mean of three, within that rounding. A launch error or a write to a
// guard fails here too: no property passes over one.
#include "properties/properties.hpp"

namespace gradverify {

Outcome matches_reference(CaseContext& context) {
    const auto inputs = context.inputs_of(context.pass());
    const CallResult result = context.call(context.kernel(), inputs);
    if (const std::string complaint = result.complaint(); !complaint.empty())
        return Outcome::failed(complaint);
    const auto expected = context.op().is_exact_at(context.problem())
                              ? context.exactly(context.reference(context.pass()))
                              : context.within_rounding();
    return combine(compare_outputs(result, expected, context.checked().setting),
                   "differs from the reference");
}

}  // namespace gradverify
