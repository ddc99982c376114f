// SPDX-License-Identifier: Apache-2.0
// On full mantissas a correct kernel may differ from the exact value by rounding alone. The bound
// comes from the reference run on the error-carrying scalar; see harness/bounded.hpp.
#include "harness/sensitivity.hpp"
#include "properties/properties.hpp"

namespace gradverify {

namespace {

/// The rounding of what a caller sees: the tensors' or the accumulator's, the coarser.
Rounding output_rounding(const KernelDeclaration& kernel) {
    const Rounding stored = Rounding::of(DType::f32), summed = Rounding::of(kernel.accumulator);
    return summed.unit_roundoff > stored.unit_roundoff ? summed : stored;
}

}  // namespace

Outcome within_rounding_bound(CaseContext& context) {
    const auto inputs = context.inputs_of(context.pass());
    const CallResult result = context.call(context.kernel(), inputs);
    if (const std::string complaint = result.complaint(); !complaint.empty())
        return Outcome::failed(complaint);
    const auto bounded = context.bounded();
    std::vector<Expected> expected;
    for (std::size_t i = 0; i < bounded.size(); ++i)
        expected.push_back(Expected::within(context.pass().outputs[i], bounded[i]));
    Outcome outcome = combine(compare_outputs(result, expected, context.checked().setting),
                              "is further from the exact value than rounding can explain");
    outcome.sensitivity = sensitivity_of(expected, output_rounding(context.declaration()));
    return outcome;
}

}  // namespace gradverify
