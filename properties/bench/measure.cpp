// SPDX-License-Identifier: Apache-2.0
#include "properties/bench/measure.hpp"

#include <algorithm>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "harness/operators/copies.hpp"
#include "properties/checking/context.hpp"

namespace gradverify {

namespace {

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
std::optional<std::string> slow_input(const Kernel& kernel, const Problem& problem,
                                      double most_saved) {
    if (kernel.op->forward().multiply_adds(problem) <= most_saved) return std::nullopt;
    for (const std::string& input : kernel.pass->inputs)
        if (kernel.op->is_output(input)) return input;
    return std::nullopt;
}

/// A problem as copies of a smaller one, `one`; just itself where its inputs are soon made.
struct Copied {
    struct Times {
        const SeparableSpec& along;
        std::int64_t copies;
        Problem one;
    };
    std::vector<Times> times{};
    Problem one;

    Copied(const Kernel& kernel, const Problem& problem, double most_saved) : one(problem) {
        for (const SeparableSpec& along : kernel.op->separable) {
            if (!slow_input(kernel, one, most_saved)) return;
            const auto slots = one.space().find(along.parameters.front(), one.rank());
            const std::int64_t copies = slots.empty() ? 1 : one[slots.front()];
            const auto smaller = copies > 1 ? one_copy(one, along, copies) : std::nullopt;
            // What is saved may be a sum over copies.
            const auto is_of_copies = [&](const std::string& input) {
                return !kernel.op->is_output(input) ||
                       axis_of_copies(*kernel.op, input, *smaller, along).has_value();
            };
            if (!smaller || !std::ranges::all_of(kernel.pass->inputs, is_of_copies)) continue;
            one = *smaller;
            times.push_back({along, copies, one});
        }
    }
    Array<double> repeated(const Operator& op, const std::string& tensor,
                           Array<double> array) const {
        for (const Times& some : times | std::views::reverse)
            if (const auto axis = axis_of_copies(op, tensor, some.one, some.along))
                array = gradverify::repeated(array, *axis, some.copies);
        return array;
    }
};

Outcome measure_time(const Registry& registry, const MeasureRequest& request, double most_saved) {
    const Kernel& kernel = kernel_named(registry, request.kernel);
    const Case timed = case_of(request, kernel);
    const Copied copied(kernel, timed.problem, most_saved);
    if (const auto input = slow_input(kernel, copied.one, most_saved))
        return Outcome::skipped(
            "the problem is too large for the reference, which makes its input " + *input);
    // Explicit integers would be shown to be exact, which takes a run of the reference.
    const ValueKind kind =
        request.data == BenchData::integers ? ValueKind::integers : ValueKind::mantissas;
    Case one = timed;
    one.problem = copied.one;
    CaseContext context(one, registry, kind);
    auto inputs = context.inputs.of(*kernel.pass);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        inputs[i] = copied.repeated(*kernel.op, kernel.pass->inputs[i], std::move(inputs[i]));
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

Outcome measure(const Registry& registry, const MeasureRequest& request, double most_saved) {
    try {
        if (request.what == MeasureRequest::What::time)
            return measure_time(registry, request, most_saved);
        Outcome outcome = Outcome::passed();
        outcome.measured = device_named(request.device).measure_ceilings();
        return outcome;
    } catch (const NotServed& reason) {
        return reason.outcome();
    }
}

}  // namespace gradverify
