// SPDX-License-Identifier: Apache-2.0
// On full mantissas a correct kernel may differ from the exact value by rounding alone. The bound
// comes from the reference run on the error-carrying scalar; see
// harness/numbers/rounding_bound.hpp.
#include <algorithm>
#include <cmath>

#include "harness/cases/sensitivity.hpp"
#include "properties/checking/departing_step.hpp"
#include "properties/properties.hpp"

namespace gradverify {

namespace {

/// The rounding of each output: its type's or the accumulator's, whichever is coarser.
std::vector<Rounding> output_roundings(const CaseContext& context) {
    const Rounding summed = Rounding::of(context.declaration().accumulator());
    std::vector<Rounding> roundings;
    for (const std::string& name : context.pass().outputs) {
        const Rounding stored = Rounding::of(context.types().of(context.op(), name));
        const bool is_integer = stored.unit_roundoff == 0.0;
        roundings.push_back(
            is_integer ? stored : std::ranges::max(summed, stored, {}, &Rounding::unit_roundoff));
    }
    return roundings;
}

// No transform rounds by more.
constexpr double growth_maximum = 1e5;

/// Whether the largest errors could be a transform's: no element is missing or NaN.
bool may_be_rounding(const Outcome& outcome, const CallResult& result) {
    if (!std::ranges::all_of(result.untouched, [](const auto& output) { return output.empty(); }))
        return false;
    double error = 0.0, bound = 0.0;
    for (const WrongElement& wrong : outcome.worst) {
        if (!std::isfinite(wrong.got)) return false;
        error = std::max(error, std::abs(wrong.got - wrong.want));
        bound = std::max(bound, wrong.bound);
    }
    // Where nothing is added up, a transform may leave something.
    return bound == 0.0 || error < growth_maximum * bound;
}

std::string advice(const CaseContext& context, const Outcome& outcome, const CallResult& result) {
    const KernelDeclaration& declared = context.declaration();
    const bool may_transform = context.op().algebra == Algebra::products &&
                               context.sums_integers_exactly() && !declared.saturates_results;
    if (outcome.verdict != Verdict::failed || !may_transform || !may_be_rounding(outcome, result))
        return {};
    return "; a kernel that transforms its data, as Winograd's and Fourier's convolutions do, "
           "declares .norm_wise(growth)";
}

}  // namespace

Outcome within_rounding_bound(CaseContext& context) {
    const auto inputs = context.inputs.of(context.pass());
    const CallResult result = context.caller.call(context.kernel(), inputs);
    if (const auto failure = failed_call(result)) return *failure;
    const auto expected = context.oracle.within_rounding();
    Outcome outcome = combine(compare_outputs(result, expected, context.checked().setting),
                              "is further from the exact value than rounding can explain");
    outcome.message += advice(context, outcome, result);
    if (outcome.verdict == Verdict::failed) outcome.message += departing_step(context, result);
    outcome.sensitivity = sensitivity_of(expected, output_roundings(context));
    return outcome;
}

}  // namespace gradverify
