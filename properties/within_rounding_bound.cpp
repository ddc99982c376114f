// SPDX-License-Identifier: Apache-2.0
// On full mantissas a correct kernel may differ from the exact value by rounding alone. The bound
// comes from the reference run on the error-carrying scalar; see
// harness/numbers/rounding_bound.hpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "harness/cases/sensitivity.hpp"
#include "properties/checking/contiguous_cotangents.hpp"
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

// No transform rounds by more units in the last place of a tensor's largest element, or by a larger
// share of it.
constexpr double growth_maximum = 1e5, share_maximum = 0x1p-4;

/// Whether the errors could be a transform's: small against the tensor, with no element NaN, or
/// missing.
bool may_be_rounding(const CaseContext& context, const Outcome& outcome,
                     const std::vector<Expected>& expected) {
    const std::vector<Rounding> roundings = output_roundings(context);
    return std::ranges::all_of(outcome.worst, [&](const WrongElement& wrong) {
        const auto at = std::ranges::find(expected, wrong.tensor, &Expected::tensor);
        double largest = 0.0;
        for (const double value : at->values) largest = std::max(largest, std::abs(value));
        const auto output = static_cast<std::size_t>(at - expected.begin());
        const double growth = growth_maximum * roundings[output].unit_roundoff;
        return std::abs(wrong.got - wrong.want) < std::min(growth, share_maximum) * largest;
    });
}

/// The coarsest type of the pass's tensors, if rounding each term of each wrong element to it once
/// explains the error. A bound is at least the accumulator's rounding of the terms.
std::optional<DType> rounded_to(const CaseContext& context, const Outcome& outcome) {
    const double summed = Rounding::of(context.declaration().accumulator()).unit_roundoff;
    std::optional<DType> coarsest;
    double rounding = summed;
    for (const std::string& name : context.pass().tensors()) {
        const DType type = context.types().of(context.op(), name);
        if (traits_of(type).unit_roundoff <= rounding) continue;
        coarsest = type;
        rounding = traits_of(type).unit_roundoff;
    }
    const bool explains = std::ranges::all_of(outcome.worst, [&](const WrongElement& wrong) {
        return std::abs(wrong.got - wrong.want) <= rounding * wrong.bound / summed;
    });
    return explains ? coarsest : std::nullopt;
}

std::string advice(const CaseContext& context, const Outcome& outcome,
                   const std::vector<Expected>& expected) {
    const KernelDeclaration& declared = context.declaration();
    const bool may_transform = context.op().algebra == Algebra::products &&
                               context.sums_integers_exactly() && !declared.saturates_results;
    if (outcome.verdict != Verdict::failed || !may_transform ||
        !may_be_rounding(context, outcome, expected))
        return {};
    if (const auto type = rounded_to(context, outcome))
        return fmt::format("; rounding each term to {} once would explain it",
                           traits_of(*type).name);
    return "; a kernel that transforms its data, as Winograd's and Fourier's convolutions do, "
           "declares .norm_wise(growth)";
}

/// Finds where the elements of an output that have no bound begin, by the values of an input of as
/// many elements.
void find_border(CaseContext& context, const Expected& output, Uncompared& found) {
    for (const TensorSpec& input : context.op().inputs) {
        const Array<double>& values = context.inputs[input.name];
        if (!input.differentiable || values.data.size() != output.bounds.size()) continue;
        for (const bool upwards : {true, false}) {
            const auto before = [&](std::size_t a, std::size_t b) {
                return upwards ? values.data[a] < values.data[b] : values.data[b] < values.data[a];
            };
            std::vector<std::size_t> order(values.data.size());
            std::iota(order.begin(), order.end(), 0);
            const auto unlimited = std::partition(order.begin(), order.end(), [&](std::size_t i) {
                return output.bounds[i].is_limited();
            });
            const std::size_t first = *std::min_element(unlimited, order.end(), before);
            if (std::any_of(order.begin(), unlimited,
                            [&](std::size_t i) { return !before(i, first); }))
                continue;
            found.place = fmt::format(
                "{}[{}]", input.name,
                fmt::join(unflatten(static_cast<std::int64_t>(first), values.sizes), ", "));
            found.border = values.data[first];
            found.is_upwards = upwards;
            return;
        }
    }
}

/// A bound that is wider than all values of its tensor has none of them told from another.
Uncompared uncompared_in(CaseContext& context, const std::vector<Expected>& expected) {
    Uncompared found;
    for (const Expected& output : expected) {
        double largest = 0.0;
        for (const double value : output.values)
            if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
        const std::int64_t without = std::ranges::count_if(
            output.bounds, [](const Bound& bound) { return !bound.is_limited(); });
        if (without > 0 && found.without_bound == 0) find_border(context, output, found);
        found.without_bound += without;
        found.elements += without + std::ranges::count_if(output.bounds, [&](const Bound& bound) {
                              return bound.is_limited() && largest > 0.0 && bound.most() > largest;
                          });
        found.total += std::ssize(output.values);
    }
    return found;
}

}  // namespace

Outcome within_rounding_bound(CaseContext& context) {
    const auto inputs = context.inputs.of(context.pass());
    const CallResult result = context.caller.call(context.kernel(), inputs);
    if (const auto failure = failed_call(result)) return *failure;
    const auto expected = context.oracle.within_rounding();
    Outcome outcome =
        combine(compare_outputs(result, expected, context.checked().setting),
                "is further from the exact value than rounding its terms can explain");
    outcome.message += advice(context, outcome, expected);
    if (outcome.verdict == Verdict::passed)
        outcome.contiguous_alone = contiguous_alone(context, inputs, expected);
    if (outcome.verdict == Verdict::failed) {
        lead_with_unwritten(outcome, context.pass(), result);
        outcome.message += departing_step(context, result);
    }
    outcome.sensitivity = sensitivity_of(expected, output_roundings(context));
    outcome.uncompared = uncompared_in(context, expected);
    return outcome;
}

}  // namespace gradverify
