// SPDX-License-Identifier: Apache-2.0
// On integers whose sums fit the accumulation type every order of summation gives the same bits, so
// the kernel must give the reference's very numbers. A kernel that transforms its data, or a
// problem that rounds nevertheless, such as a mean of three, is held to its bound, which a missing
// or doubled term of integers exceeds by far.
#include "properties/checking/departing_step.hpp"
#include "properties/properties.hpp"

namespace gradverify {

Outcome matches_reference(CaseContext& context) {
    const auto inputs = context.inputs.of(context.pass());
    const CallResult result = context.caller.call(context.kernel(), inputs);
    if (const auto failure = failed_call(result)) return *failure;
    auto expected = context.oracle.expected();
    // What rounds on integers rounds as the reference does.
    for (Expected& output : expected) output.by_any_formula = nullptr;
    Outcome outcome = combine(compare_outputs(result, expected, context.checked().setting),
                              "differs from the reference");
    if (outcome.verdict == Verdict::failed) {
        lead_with_unwritten(outcome, context.pass(), result);
        outcome.message += departing_step(context, result);
    }
    return outcome;
}

}  // namespace gradverify
