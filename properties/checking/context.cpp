// SPDX-License-Identifier: Apache-2.0
#include "properties/checking/context.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "harness/devices/call_note.hpp"

namespace gradverify {

std::vector<Comparison> compare_outputs(const CallResult& result,
                                        const std::vector<Expected>& expected,
                                        const Setting& setting) {
    std::vector<Comparison> comparisons;
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (setting.asks_for(i)) {
            comparisons.push_back(compare(result.outputs[i].data, expected[i]));
            for (WrongElement& wrong : comparisons.back().worst)
                wrong.dtype = result.output_types[i];
        }
    return comparisons;
}

SoundForward sound_forward(CaseContext& context, const std::set<const Kernel*>& unsound) {
    const PassSpec& forward = context.op().forward();
    const auto inputs = context.inputs.of(forward);
    std::vector<Expected> expected;
    for (const Kernel& candidate : context.registry().kernels()) {
        if (candidate.pass != &forward || !candidate.on(context.checked().device) ||
            candidate.any().write_mode == WriteMode::accumulates || unsound.contains(&candidate) ||
            candidate.any().norm_wise_growth || is_distrusted(candidate.name) ||
            candidate.why_unsupported(context.problem()))
            continue;
        if (!can_take(candidate, inputs)) continue;
        if (expected.empty()) {
            const auto results = context.oracle.reference(forward, inputs);
            for (std::size_t i = 0; i < results.size(); ++i)
                expected.push_back(Expected::exactly(forward.outputs[i], results[i]));
        }
        CallResult result = context.caller.call(candidate, inputs);
        if (!result.complaint().empty()) continue;
        const auto comparisons = compare_outputs(result, expected, Setting{});
        if (std::ranges::all_of(comparisons, &Comparison::ok))
            return {.kernel = &candidate, .outputs = std::move(result.outputs)};
    }
    return {};
}

double inner_product(const Array<double>& a, const Array<double>& b) {
    return std::inner_product(a.data.begin(), a.data.end(), b.data.begin(), 0.0);
}

}  // namespace gradverify
