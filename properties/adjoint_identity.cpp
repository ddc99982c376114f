// SPDX-License-Identifier: Apache-2.0
// <dy, J v> = <J^T dy, v> for a random direction v, where J v is a registered forward kernel's
// result on v with zeros in all terms without v's tensor: exact in integers, and independent of the
// reference but for the check that the forward kernel is sound. A kernel of the forward mode meets
// gradient kernels instead.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "properties/checking/tangents.hpp"
#include "properties/properties.hpp"

namespace gradverify {

namespace {

double error_along(const Array<Bounded>& gradient, const Array<double>& direction) {
    double error = 0.0;
    for (std::size_t i = 0; i < direction.data.size(); ++i)
        error += gradient.data[i].error() * std::abs(direction.data[i]);
    return error;
}

/// Whether no element may overflow its type, which would leave no sum over all.
bool is_bounded(const Array<Bounded>& gradient) {
    return std::ranges::all_of(
        gradient.data, [](const Bounded& element) { return std::isfinite(element.error()); });
}

/// The identity with one forward kernel, for each gradient; nothing where that is wrong about J v.
std::optional<std::vector<Comparison>> compare_with(CaseContext& context, const Kernel& partner,
                                                    const CallResult& result) {
    const PassSpec& forward = context.op().forward();
    const auto bounded = context.oracle.exactness() == Exactness::exact
                             ? std::vector<Array<Bounded>>()
                             : context.oracle.bounded();
    std::vector<Comparison> comparisons;
    for (std::size_t i = 0; i < result.outputs.size(); ++i) {
        if (!context.asks_for(i) || !context.op().is_gradient(context.pass().outputs[i])) continue;
        if (!bounded.empty() && !is_bounded(bounded[i])) continue;
        const std::string tensor = context.pass().outputs[i].substr(1);
        const Array<double>& gradient = result.outputs[i];
        const auto direction = context.direction_for("adjoint " + tensor, gradient,
                                                     context.largest_step(tensor, &partner));
        const auto at = tangent_inputs(context, tensor, direction);
        const CallResult tangent = context.caller.call(partner, at);
        if (!tangent.complaint().empty()) return std::nullopt;
        const double want = with_cotangents(context, tangent.outputs);
        double got = inner_product(gradient, direction);
        if (context.declaration().is_added_to(context.pass().outputs[i]))
            got -= inner_product(context.inputs.initial_outputs()[i], direction);
        Expected expected{
            .tensor = "<d" + tensor + ", v>", .sizes = {}, .values = {want}, .bounds = {}};
        if (!bounded.empty()) expected.bounds = {error_along(bounded[i], direction)};
        comparisons.push_back(compare({&got, 1}, expected));
        if (comparisons.back().ok) continue;
        const auto right = all_exactly(forward, context.oracle.reference(forward, at));
        if (!std::ranges::all_of(compare_outputs(tangent, right), &Comparison::ok))
            return std::nullopt;
    }
    return comparisons;
}

}  // namespace

Outcome adjoint_identity(CaseContext& context) {
    if (yields_tangents(context.op(), context.pass())) return tangents_match_gradients(context);
    if (!context.op().is_exact_at(context.problem()))
        return Outcome::skipped("exact only where " + context.op().exact_if_text);
    const auto inputs = context.inputs.of(context.pass());
    const CallResult result = context.caller.call(context.kernel(), inputs);
    if (const auto failure = failed_call(result)) return *failure;
    std::set<const Kernel*> unsound;
    while (const Kernel* partner = sound_forward(context, unsound)) {
        const auto comparisons = compare_with(context, *partner, result);
        unsound.insert(partner);
        if (!comparisons) continue;
        Outcome outcome =
            combine(*comparisons, "is not the adjoint of the forward kernel " + partner->name +
                                      ": <dy, J v> differs from <g, v>");
        if (outcome.verdict != Verdict::failed) return outcome;
        // Where the reference contradicts itself, no kernel is charged.
        if (!is_right(context, result)) return outcome;
    }
    return Outcome::skipped(why_no_forward(context));
}

}  // namespace gradverify
