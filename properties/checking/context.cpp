// SPDX-License-Identifier: Apache-2.0
#include "properties/checking/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/cases/sensitivity.hpp"
#include "harness/devices/call_note.hpp"

namespace gradverify {

std::optional<Outcome> failed_call(const CallResult& result) {
    const std::string complaint = result.complaint();
    return complaint.empty() ? std::nullopt : std::optional(Outcome::failed(complaint));
}

std::optional<Outcome> failed_or_unordered(const CallResult& result) {
    const auto failure = failed_call(result);
    if (failure || result.unordered.empty()) return failure;
    return Outcome::failed(result.unordered);
}

/// No formula can promise more.
static bool is_within_an_ulp(const WrongElement& element) {
    return is_floating(*element.dtype) && std::abs(element.got - element.want) <=
                                              ulp_of(Rounding::of(*element.dtype), element.want);
}

std::vector<Comparison> compare_outputs(const CallResult& result,
                                        const std::vector<Expected>& expected,
                                        const Setting& setting) {
    std::vector<Comparison> comparisons;
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (setting.asks_for(i)) {
            comparisons.push_back(compare(result.outputs[i].data, expected[i]));
            for (WrongElement& wrong : comparisons.back().worst)
                wrong.dtype = result.output_types[i];
            auto& imprecision = comparisons.back().imprecision;
            if (imprecision) imprecision->worst.dtype = result.output_types[i];
            if (imprecision && is_within_an_ulp(imprecision->worst)) imprecision.reset();
        }
    return comparisons;
}

void lead_with_unwritten(Outcome& outcome, const PassSpec& pass, const CallResult& result) {
    std::string words;
    bool are_all = true;
    for (const WrongMap& map : outcome.maps) {
        const auto output = std::ranges::find(pass.outputs, map.tensor) - pass.outputs.begin();
        if (output == std::ssize(pass.outputs)) continue;
        const auto unwritten = std::ranges::count_if(
            result.untouched[static_cast<std::size_t>(output)], [&](std::int64_t at) {
                return map.marks.empty() || map.marks[static_cast<std::size_t>(at)] == '#';
            });
        are_all &= unwritten >= map.wrong;
        if (unwritten > 0)
            words += fmt::format("{}leaves {} of {} elements of {} as they were",
                                 words.empty() ? "" : ", and ", unwritten, map.total, map.tensor);
    }
    if (words.empty()) return;
    words += ": never written, or added to";
    outcome.message = are_all ? words : words + "; besides, it " + outcome.message;
}

bool is_right(CaseContext& context, const CallResult& result) {
    return std::ranges::all_of(
        compare_outputs(result, context.oracle.expected(), context.checked().setting),
        &Comparison::ok);
}

bool can_be_partner(const CaseContext& context, const Kernel& kernel) {
    return &kernel != &context.kernel() && kernel.on(context.checked().device) &&
           !kernel.any().adds_to_some() && kernel.any().always_zero.empty() &&
           !kernel.any().norm_wise_growth && !is_distrusted(kernel.name) &&
           !kernel.why_unsupported(context.problem());
}

std::vector<const Kernel*> partners_in_turn(const Registry& registry, const PassSpec& pass) {
    std::vector<const Kernel*> kernels;
    for (const Kernel& kernel : registry.kernels())
        if (kernel.pass == &pass) kernels.push_back(&kernel);
    std::stable_partition(kernels.begin(), kernels.end(),
                          [](const Kernel* kernel) { return kernel->on("cpu") != nullptr; });
    return kernels;
}

const Kernel* sound_forward(CaseContext& context, const std::set<const Kernel*>& unsound) {
    const PassSpec& forward = context.op().forward();
    const auto inputs = context.inputs.of(forward);
    std::vector<Expected> expected;
    const auto is_sound = [&](const Kernel& candidate) {
        if (unsound.contains(&candidate) || !can_be_partner(context, candidate) ||
            !can_take(candidate, inputs))
            return false;
        if (expected.empty())
            expected = all_exactly(forward, context.oracle.reference(forward, inputs));
        const CallResult result = context.caller.call(candidate, inputs);
        return result.complaint().empty() &&
               std::ranges::all_of(compare_outputs(result, expected), &Comparison::ok);
    };
    const auto candidates = partners_in_turn(context.registry(), forward);
    const auto found = std::ranges::find_if(
        candidates, [&](const Kernel* candidate) { return is_sound(*candidate); });
    return found == candidates.end() ? nullptr : *found;
}

std::string why_no_forward(CaseContext& context) {
    bool is_registered = false;
    const auto inputs = context.inputs.of(context.op().forward());
    for (const Kernel& kernel : context.registry().kernels()) {
        if (kernel.pass != &context.op().forward() || !kernel.on(context.checked().device))
            continue;
        is_registered = true;
        if (can_be_partner(context, kernel) && can_take(kernel, inputs))
            return "no registered forward kernel is right on the problem";
    }
    return is_registered ? "no registered forward kernel takes the problem and gives exact integers"
                         : "no forward kernel is registered";
}

std::vector<Array<double>> inputs_along(CaseContext& context, const std::string& tensor,
                                        const Array<double>& direction) {
    const PassSpec& forward = context.op().forward();
    auto inputs = context.inputs.of(forward);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (forward.inputs[i] == tensor)
            for (std::size_t j = 0; j < direction.data.size(); ++j)
                inputs[i].data[j] += direction.data[j];
    return inputs;
}

std::vector<Array<double>> tangent_inputs(CaseContext& context, const std::string& tensor,
                                          const Array<double>& direction) {
    const PassSpec& forward = context.op().forward();
    auto inputs = context.inputs.of(forward);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::string& name = forward.inputs[i];
        const bool shares_a_product =
            std::ranges::any_of(context.op().products, [&](const auto& product) {
                return std::ranges::count(product, name) > 0 &&
                       std::ranges::count(product, tensor) > 0;
            });
        if (name == tensor)
            inputs[i] = direction;
        else if (context.op().inputs[i].differentiable && !shares_a_product)  // indices stay
            std::ranges::fill(inputs[i].data, 0.0);
    }
    return inputs;
}

double inner_product(const Array<double>& a, const Array<double>& b) {
    return std::inner_product(a.data.begin(), a.data.end(), b.data.begin(), 0.0);
}

double with_cotangents(CaseContext& context, const std::vector<Array<double>>& outputs) {
    double sum = 0.0;
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (const TensorSpec& y = context.op().outputs[i]; y.differentiable)
            sum += inner_product(context.inputs["d" + y.name], outputs[i]);
    return sum;
}

}  // namespace gradverify
