// SPDX-License-Identifier: Apache-2.0
// Two calls on the same buffers give the same bits, unless the kernel sums in a varying order. With
// other launches in between, moved pointers, streams that are busy, another block size and order of
// threads, the result stays within the rounding bound of the first one, be that right or wrong.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/cases/sensitivity.hpp"
#include "properties/properties.hpp"

namespace gradverify {

namespace {

std::vector<Expected> same_as(const CaseContext& context, const CallResult& first) {
    auto expected = all_exactly(context.pass(), first.outputs);
    for (Expected& one : expected) one.admits_nan = true;  // the same again, though it may be wrong
    return expected;
}

/// Both results lie within the bound of the exact value, so they differ by at most twice that. The
/// same bits need no bounds, which take many times as long as the calls.
std::vector<Expected> near_first(CaseContext& context, const CallResult& first,
                                 const CallResult& other, std::vector<Array<Bounded>>& bounded) {
    auto expected = same_as(context, first);
    if (other.output_bits == first.output_bits) return expected;
    if (bounded.empty()) bounded = context.oracle.bounded();
    for (std::size_t i = 0; i < expected.size(); ++i)
        for (const Bounded& element : bounded[i].data)
            expected[i].bounds.push_back(bound_of(element) + bound_of(element));
    return expected;
}

/// The elements in the opposite order; ascending ones mirrored, so that they ascend as well.
void reverse(Array<double>& array, const TensorSpec& tensor, const Problem& problem) {
    std::ranges::reverse(array.data);
    if (tensor.arrangement != Arrangement::ascending && tensor.arrangement != Arrangement::offsets)
        return;
    const ValueDomain range = tensor.domain_at(problem);
    for (double& element : array.data) element = range.lowest + range.highest - element;
}

/// Other values, so that leftovers show; where not every number is one, its own in another order.
std::vector<Array<double>> other_inputs(const CaseContext& context,
                                        std::vector<Array<double>> inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const TensorSpec& tensor = context.op().tensor_named(context.pass().inputs[i]);
        if (tensor.domain || context.op().is_output(context.pass().inputs[i]))
            reverse(inputs[i], tensor, context.problem());
        else
            // A scale that is no power of two can't hold three times its numbers.
            for (double& element : inputs[i].data)
                element *= context.types().blocks_of(context.pass().inputs[i]) ? -1.0 : -3.0;
    }
    return inputs;
}

/// Why results differ beyond the bounds: by little, another arithmetic than the declared one may be
/// the cause.
std::string beyond_bounds(const CaseContext& context, const Outcome& outcome) {
    constexpr double few_ulps = 16.0;
    const bool is_by_little =
        !outcome.worst.empty() && std::ranges::all_of(outcome.worst, [](const WrongElement& wrong) {
            return is_floating(*wrong.dtype) &&
                   std::abs(wrong.got - wrong.want) <=
                       few_ulps * ulp_of(Rounding::of(*wrong.dtype), wrong.want);
        });
    if (!is_by_little) return "by more than rounding can";
    const auto name = traits_of(context.declaration().accumulator()).name;
    return fmt::format(
        "by more than its sums can, which are declared to be in {}; sums of fewer "
        "digits are declared by .accumulates_in(), a varying order, as of atomics, "
        "by .not_deterministic()",
        name);
}

}  // namespace

Outcome repeatable(CaseContext& context) {
    const auto inputs = context.inputs.of(context.pass());
    const bool bitwise = context.declaration().determinism == Determinism::bitwise;

    // On the same stream: on the default one a GPU makes calls one after the other.
    const Setting plain{.own_stream = context.checked().setting.own_stream};
    const auto [first, second] = context.caller.call_twice(inputs, plain);
    for (const CallResult* result : {&first, &second})
        if (const auto failure = failed_or_unordered(*result)) return *failure;
    if (bitwise && second.output_bits != first.output_bits) {
        Outcome outcome = combine(
            compare_outputs(second, same_as(context, first)),
            "two calls on the same buffers differ; a kernel that sums in a varying order, as "
            "with atomics, declares .not_deterministic()");
        outcome.is_of_two_calls = true;
        // Bits may differ where values do not (a zero's sign, a NaN's payload): still a failure.
        outcome.verdict = Verdict::failed;
        return outcome;
    }

    const CallResult other = context.caller.call(context.kernel(), other_inputs(context, inputs),
                                                 plain, context.caller.surroundings());
    if (const auto failure = failed_or_unordered(other)) return *failure;
    std::vector<Array<Bounded>> bounds;
    Outcome outcome;
    for (const DelayedStream delayed :
         streams_to_delay(context.checked().setting, context.device())) {
        Surroundings surroundings = context.caller.surroundings();
        surroundings.delayed = delayed;
        // Another poison, so that a NaN in both can't come from adding to it.
        const bool was_nan = surroundings.poison == Poison::nan;
        surroundings.poison = was_nan ? Poison::positive_huge : Poison::nan;
        const CallResult moved =
            context.caller.call(context.kernel(), inputs, context.checked().setting, surroundings);
        if (const auto failure = failed_or_unordered(moved)) return *failure;
        outcome = combine(compare_outputs(moved, near_first(context, first, moved, bounds),
                                          context.checked().setting),
                          "moved pointers, another stream, block size or order of threads change "
                          "the result ");
        outcome.is_of_two_calls = true;
        if (outcome.verdict != Verdict::failed) continue;
        outcome.message += beyond_bounds(context, outcome);
        return outcome;
    }
    Outcome varied = combine(compare_outputs(second, near_first(context, first, second, bounds)),
                             "two calls on the same buffers differ ");
    if (varied.verdict != Verdict::failed) return outcome;
    varied.is_of_two_calls = true;
    varied.message += beyond_bounds(context, varied);
    return varied;
}

}  // namespace gradverify
