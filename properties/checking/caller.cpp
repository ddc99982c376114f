// SPDX-License-Identifier: Apache-2.0
#include "properties/checking/caller.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "harness/base/random.hpp"
#include "harness/devices/call_note.hpp"
#include "harness/numbers/element_bits.hpp"
#include "harness/registry/element_types.hpp"

namespace gradverify {

namespace {

/// Takes turns, so that the few dense cases of a problem meet each edge and each parity.
Surroundings surroundings_of_dense(std::uint64_t seed) {
    constexpr Surroundings turns[] = {
        {.poison = Poison::nan, .guard_parity = 0, .edge = Edge::end},
        {.poison = Poison::nan, .guard_parity = 1, .edge = Edge::begin},
        {.poison = Poison::positive_huge, .guard_parity = 1, .edge = Edge::end},
        {.poison = Poison::negative_huge, .guard_parity = 0, .edge = Edge::begin}};
    return turns[(seed + 3) % 4];
}

}  // namespace

Surroundings Caller::surroundings() const {
    if (subject_.checked().data.is_dense)
        return surroundings_of_dense(subject_.checked().data.seed);
    SplitMix64 random(subject_.seed_for("surroundings"));
    Surroundings drawn{.guard_parity = static_cast<int>(random.below(2))};
    // Now and then a finite poison, which a maximum or a comparison can't swallow as it does NaN.
    const std::uint64_t poison = random.below(8);
    if (poison < 2) drawn.poison = poison == 0 ? Poison::positive_huge : Poison::negative_huge;
    if (random.below(2) == 1) drawn.edge = Edge::begin;
    return drawn;
}

std::vector<DelayedStream> streams_to_delay(const Setting& setting, const Device& device) {
    if (!setting.own_stream || !device.overlaps_streams()) return {DelayedStream::none};
    return {DelayedStream::default_stream, DelayedStream::given};
}

Call Caller::make_call(const Kernel& kernel, const std::vector<Array<double>>& inputs,
                       const Setting& setting, const Surroundings& surroundings) const {
    return {.kernel = kernel,
            .device = subject_.device(),
            .problem = subject_.problem(),
            .inputs = inputs,
            .setting = setting,
            .surroundings = surroundings,
            .initial_outputs = &kernel == &subject_.kernel() ? std::span(inputs_.initial_outputs())
                                                             : std::span<const Array<double>>()};
}

CallResult Caller::call(const Kernel& kernel, const std::vector<Array<double>>& inputs) {
    // The setting was drawn for this case's kernel; a partner gets the default one.
    const Setting setting = &kernel == &subject_.kernel() ? subject_.checked().setting : Setting{};
    return call(kernel, inputs, setting, surroundings());
}

/// Whether any number of its domain may stand in the place of an element.
bool may_change(const Operator& op, const ElementTypes& types, const std::string& tensor) {
    const auto tells_lengths = [&](const TensorSpec& other) {
        return other.lengths.tensor == tensor;
    };
    return !op.is_output(tensor) && op.tensor_named(tensor).arrangement == Arrangement::free &&
           !types.blocks_of(tensor) && std::ranges::none_of(op.inputs, tells_lengths) &&
           std::ranges::none_of(op.outputs, tells_lengths);
}

/// What the call before is given: other data or, on the same problem, the call's own with one
/// element in the middle of one tensor changed, which a kernel does not see that keeps results by
/// the first elements.
std::vector<Array<double>> Caller::inputs_before(const Call& call) const {
    const Problem& before = *subject_.checked().setting.before;
    const auto& names = subject_.pass().inputs;
    const std::uint64_t seed = subject_.seed_for("before");
    const Values values =
        draw_values(subject_.op(), before, {.seed = seed}, subject_.kind(), subject_.types());
    auto others = pick(subject_.op(), before, values, names, subject_.types());
    if (before != subject_.problem()) return others;
    std::vector<Array<double>> own(call.inputs.begin(), call.inputs.end());
    for (std::size_t i = 0; i < own.size(); ++i) {
        const std::size_t which = (seed + i) % own.size();
        std::vector<double>& elements = own[which].data;
        if (elements.empty() || !may_change(subject_.op(), subject_.types(), names[which]))
            continue;
        double& middle = elements[elements.size() / 2];
        for (const double other : others[which].data)
            if (other < middle || other > middle) {
                middle = other;
                return own;
            }
    }
    return others;
}

/// Makes a call of the case's kernel; the first one directly after the call before.
template <class Result>
Result Caller::make(Call call, Result (*make_it)(const Call&)) {
    const auto& before = subject_.checked().setting.before;
    if (!before || std::exchange(called_before_, true)) return make_it(call);
    const auto inputs = inputs_before(call);
    const Call made_before{.kernel = subject_.kernel(),
                           .device = subject_.device(),
                           .problem = *before,
                           .inputs = inputs,
                           .setting = {.own_stream = call.setting.own_stream},
                           .surroundings = {},
                           .initial_outputs = {}};
    call.before = &made_before;
    return make_it(call);
}

CallResult Caller::make(const Call& call) {
    CallResult result = make(call, &call_kernel);
    seconds_ += result.seconds;
    return result;
}

GivenCalls Caller::given(const std::vector<Array<double>>& inputs) {
    return make(make_call(subject_.kernel(), inputs, subject_.checked().setting, surroundings()),
                &given_in);
}

CallResult Caller::call_partner(const Call& call) {
    if (note_left()) return {.error = "the case's own kernel has lost the device"};
    note_partner(call.kernel.name);  // if it kills this process, the case is run again without it
    CallResult result;
    try {
        result = call_kernel(call);
    } catch (const NotServed& reason) {
        result.error = reason.what();
    }
    seconds_ += result.seconds;
    note_left();
    if (device_was_lost())
        end_without_device(call.kernel.name +
                           ", called for its result, lost the device: " + result.error);
    return result;
}

CallResult Caller::call(const Kernel& kernel, const std::vector<Array<double>>& inputs,
                        const Setting& setting, const Surroundings& surroundings) {
    const Call call = make_call(kernel, inputs, setting, surroundings);
    return &kernel == &subject_.kernel() ? make(call) : call_partner(call);
}

CallResult Caller::call_with_outputs(const std::vector<Array<double>>& outputs,
                                     const std::vector<Array<double>>& inputs) {
    Call call = make_call(subject_.kernel(), inputs, subject_.checked().setting, surroundings());
    call.initial_outputs = outputs;
    return make(call);
}

CallResult Caller::call_checked(const std::vector<Array<double>>& inputs) {
    Call call = make_call(subject_.kernel(), inputs, subject_.checked().setting, surroundings());
    call.checked = true;
    return make(call);
}

std::pair<CallResult, CallResult> Caller::call_twice(const std::vector<Array<double>>& inputs,
                                                     const Setting& setting) {
    // The other edge than in `call`, so that a property that does both has seen both.
    auto results =
        make(make_call(subject_.kernel(), inputs, setting, surroundings().with_other_edge()),
             &call_kernel_twice);
    seconds_ += results.first.seconds + results.second.seconds;
    return results;
}

bool can_take(const Kernel& kernel, const std::vector<Array<double>>& inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const DType dtype = dtype_of(kernel.any(), *kernel.op, kernel.pass->inputs[i]);
        if (!can_store(kernel.any(), *kernel.op, kernel.pass->inputs[i], inputs[i])) return false;
        if (kernel.any().takes_finite_numbers_alone &&
            !std::ranges::all_of(inputs[i].data, [](double value) { return std::isfinite(value); }))
            return false;
        for (const auto& [number, rounded] : kernel.any().roundings)
            if (is_floating(dtype) && !are_numbers_of(rounded, inputs[i].data)) return false;
        // Products take their factors as TF32.
        if (kernel.any().multiplies_in_tf32() && is_floating(dtype) &&
            !std::ranges::all_of(inputs[i].data, &is_number_of_tf32))
            return false;
    }
    return true;
}

}  // namespace gradverify
