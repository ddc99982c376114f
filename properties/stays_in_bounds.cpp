// SPDX-License-Identifier: Apache-2.0
// Two calls with everything outside the inputs changed: the guards' parity, the poison of outputs
// and workspace (NaN, and by turns a huge or a plausible number), and, where the device has
// unmapped pages, the end of the buffers that lies at one. A kernel that reads only its inputs
// gives the same numbers both times. Its order of summation may follow addresses, which a declared
// alignment below cudaMalloc's lets lie elsewhere: where the two differ, a third call at the first
// one's addresses must give the same numbers, and the second the same within rounding.
#include <algorithm>
#include <cmath>

#include "properties/properties.hpp"

namespace gradverify {

namespace {

bool has_outputs_of_8_bits(CaseContext& context) {
    return std::ranges::any_of(context.pass().outputs, [&](const std::string& name) {
        return is_of_8_bits(context.types().of(context.op(), name));
    });
}

/// Whether some element is NaN in both; NaN in one alone comes from memory outside the inputs.
bool have_nan(const CallResult& first, const CallResult& second) {
    for (std::size_t i = 0; i < first.outputs.size(); ++i)
        for (std::size_t j = 0; j < first.outputs[i].data.size(); ++j)
            if (std::isnan(first.outputs[i].data[j]) && std::isnan(second.outputs[i].data[j]))
                return true;
    return false;
}

/// The outputs of the first call as the second must give them: exactly, or, where sums are in a
/// varying order, or one by addresses, and no integers, within the rounding of both calls. Results
/// too large for 8 bits, or that the operator gives no number for, may be NaN.
std::vector<Expected> same_as(CaseContext& context, const CallResult& first,
                              const CallResult& second, bool is_elsewhere) {
    const Exactness exactness = context.oracle.exactness();
    const bool has_one_order =
        context.declaration().determinism == Determinism::bitwise && !is_elsewhere;
    const bool is_exact =
        has_one_order || exactness == Exactness::exact || exactness == Exactness::stored;
    // They take many times as long as the calls, and the same numbers need none.
    const bool needs_bounds =
        have_nan(first, second) ||
        (second.output_bits != first.output_bits && (!is_exact || has_outputs_of_8_bits(context)));
    const auto bounded = needs_bounds ? context.oracle.bounded() : std::vector<Array<Bounded>>();
    auto expected = all_exactly(context.pass(), first.outputs);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        expected[i].admits_nan = context.inputs.admit_nan();
        if (bounded.empty()) continue;
        for (const Bounded& element : bounded[i].data) {
            const Bound bound = bound_of(element);
            expected[i].bounds.push_back(is_exact && bound.is_limited() ? Bound() : bound + bound);
        }
    }
    return expected;
}

/// Failed where outputs kept their poison in both calls.
Outcome unwritten(const CaseContext& context, const CallResult& first, const CallResult& second) {
    std::vector<Comparison> comparisons;
    for (std::size_t i = 0; i < first.outputs.size(); ++i) {
        if (context.declaration().is_added_to(context.pass().outputs[i])) continue;
        Comparison comparison;
        const Sizes& sizes = first.outputs[i].sizes;
        comparison.map = {.tensor = context.pass().outputs[i],
                          .sizes = sizes,
                          .wrong = 0,
                          .total = element_count(sizes),
                          .marks = std::string(first.outputs[i].data.size(), '.')};
        for (const std::int64_t at : first.untouched[i]) {
            if (!std::ranges::binary_search(second.untouched[i], at)) continue;
            comparison.ok = false;
            ++comparison.map.wrong;
            comparison.map.marks[static_cast<std::size_t>(at)] = '#';
        }
        comparisons.push_back(std::move(comparison));
    }
    return combine(
        comparisons,
        "some outputs keep what was in memory before: they are never written, or added to");
}

/// Failed where a call gives other numbers than the first one. `is_elsewhere`: its buffers lie at
/// other remainders, of addresses by 256.
Outcome differing(CaseContext& context, const CallResult& first, const CallResult& second,
                  bool is_elsewhere) {
    const Setting& setting = context.checked().setting;
    std::vector<Expected> expected = same_as(context, first, second, is_elsewhere);
    Outcome outcome = combine(
        compare_outputs(second, expected, setting),
        is_elsewhere
            ? "an output depends on where the buffers lie: at other addresses, which the declared "
              "alignment admits, it differs by more than rounding can"
            : "an output depends on memory outside the inputs (two calls differ in nothing else)");
    if (outcome.verdict != Verdict::failed) return outcome;
    outcome.is_of_two_calls = true;
    // Memory outside the inputs holds NaN in both calls, so it can't be told where one comes from.
    for (Expected& one : expected) one.admits_nan = true;
    if (combine(compare_outputs(second, expected, setting), "").verdict != Verdict::failed)
        outcome.message =
            "an output is NaN: it is made from memory outside the inputs, which holds NaN, or from "
            "the inputs themselves, as by the root of a negative number";
    return outcome;
}

}  // namespace

Outcome stays_in_bounds(CaseContext& context) {
    const auto inputs = context.inputs.of(context.pass());
    const auto call = [&](const Surroundings& surroundings) {
        return context.caller.call(context.kernel(), inputs, context.checked().setting,
                                   surroundings);
    };
    Surroundings surroundings = context.caller.surroundings();
    surroundings.poison = Poison::nan;
    const CallResult first = call(surroundings);
    if (const auto failure = failed_call(first)) return *failure;
    // Protection takes as long as a small case: one call in four has it.
    surroundings.is_protected = surroundings.guard_parity != 0;
    surroundings.poison =
        surroundings.guard_parity == 0 ? Poison::positive_huge : Poison::plausible;
    surroundings.guard_parity = 1 - surroundings.guard_parity;
    const CallResult second = call(surroundings.with_other_edge());
    if (const auto failure = failed_call(second)) return *failure;
    if (Outcome outcome = unwritten(context, first, second); outcome.verdict == Verdict::failed)
        return outcome;
    Outcome outcome = differing(context, first, second, false);
    const bool may_lie_elsewhere =
        context.device().has_unmapped_edges() &&
        context.declaration().base_alignment_bytes < base_alignment_of_devices;
    if (outcome.verdict != Verdict::failed || !may_lie_elsewhere) return outcome;
    const CallResult in_place = call(surroundings);
    if (const auto failure = failed_call(in_place)) return *failure;
    outcome = differing(context, first, in_place, false);
    return outcome.verdict == Verdict::failed ? outcome : differing(context, first, second, true);
}

}  // namespace gradverify
