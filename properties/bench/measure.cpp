// SPDX-License-Identifier: Apache-2.0
#include "properties/bench/measure.hpp"

#include <optional>
#include <string>

#include "properties/checking/context.hpp"

namespace gradverify {

namespace {

// The most multiply-adds of a forward pass that saves a gradient's inputs: half a minute.
constexpr double saved_multiply_adds = 1e10;

/// A case with the values that are asked for. Its property does not matter.
Case case_of(const MeasureRequest& request, const Kernel& kernel) {
    return {.kernel = kernel.name,
            .property = "matches_reference",
            .device = request.device,
            .problem = Problem::parse(kernel.op->space, request.problem),
            // Nothing listed: every element is zero, or as simple as its domain lets it be.
            .data = {.seed = request.seed, .is_explicit = request.data == BenchData::zeros},
            .setting = {}};
}

/// The first input that the forward pass's reference would have to make, where that takes long.
std::optional<std::string> slow_input(const Kernel& kernel, const Problem& problem) {
    if (kernel.op->forward().multiply_adds(problem) <= saved_multiply_adds) return std::nullopt;
    for (const std::string& input : kernel.pass->inputs)
        if (kernel.op->is_output(input)) return input;
    return std::nullopt;
}

Outcome measure_time(const Registry& registry, const MeasureRequest& request) {
    const Kernel& kernel = kernel_named(registry, request.kernel);
    const Case timed = case_of(request, kernel);
    if (const auto input = slow_input(kernel, timed.problem))
        return Outcome::skipped(
            "the problem is too large for the reference, which makes its input " + *input);
    // Explicit integers would be shown to be exact, which takes a run of the reference.
    const ValueKind kind =
        request.data == BenchData::integers ? ValueKind::integers : ValueKind::mantissas;
    CaseContext context(timed, registry, kind);
    const auto inputs = context.inputs.of(context.pass());
    const Timing timing = time_kernel({.kernel = kernel,
                                       .device = device_named(request.device),
                                       .problem = timed.problem,
                                       .inputs = inputs},
                                      {.repetitions = request.repetitions, .graph = request.graph});
    if (!timing.error.empty()) return Outcome::failed(timing.error);
    Outcome outcome = Outcome::passed();
    outcome.measured = timing;
    return outcome;
}

}  // namespace

Outcome measure(const Registry& registry, const MeasureRequest& request) {
    try {
        if (request.what == MeasureRequest::What::time) return measure_time(registry, request);
        Outcome outcome = Outcome::passed();
        outcome.measured = device_named(request.device).measure_ceilings();
        return outcome;
    } catch (const NotServed& reason) {
        return reason.outcome();
    }
}

}  // namespace gradverify
