// SPDX-License-Identifier: Apache-2.0
#include "properties/measure.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "harness/element_bits.hpp"
#include "harness/element_types.hpp"
#include "properties/context.hpp"

namespace gradverify {

namespace {

// Of the forward pass, whose results a gradient is given: some minutes of the reference.
constexpr double saved_multiply_adds = 3e9;

const Kernel& kernel_named(const Registry& registry, const std::string& name) {
    if (const Kernel* kernel = registry.find_kernel(name)) return *kernel;
    throw std::invalid_argument("there is no kernel " + name);
}

/// The values are the case's, such as this kernel sums; its property is of no consequence.
Case case_of(const MeasureRequest& request, const Kernel& kernel) {
    return {.kernel = kernel.name,
            .property = "matches_reference",
            .device = request.device,
            .problem = Problem::parse(kernel.op->space, request.problem),
            // Nothing listed: every element is zero, or as simple as its domain lets it be.
            .data = {.seed = request.seed, .is_explicit = request.data == BenchData::zeros},
            .setting = {}};
}

/// The first input that only the reference of the forward pass can make, which would take long;
/// nothing when there is none.
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
    const auto inputs = context.inputs_of(context.pass());
    const Timing timing = time_kernel({.kernel = kernel,
                                       .device = device_named(request.device),
                                       .problem = timed.problem,
                                       .inputs = inputs},
                                      {.repetitions = request.repetitions, .graph = request.graph});
    if (!timing.error.empty()) return Outcome::failed(timing.error);
    Outcome outcome = Outcome::passed();
    outcome.measured = to_json(timing);
    return outcome;
}

/// The peer gives sums that were rounded once, to its type. A comparison rounds them to the
/// kernel's where that is narrower; where it is wider, this rounds what the kernel gave. False
/// where neither type holds all of the other, so that nothing would be rounded once.
bool store_alike(const Operator& op, DType of_kernel, DType of_peer, Array<double>& result) {
    // What is below zero may be anything in u8; and what is no integer is cut off or rounded.
    if (of_kernel == DType::u8 || of_peer == DType::u8) return false;
    if (!is_floating(of_kernel) || !is_floating(of_peer)) return !op.exact_if;
    if (holds_all_of(of_peer, of_kernel)) return true;
    if (!holds_all_of(of_kernel, of_peer)) return false;
    for (double& element : result.data) element = rounded_to(of_peer, element);
    return true;
}

Outcome check_agreement(const Registry& registry, const MeasureRequest& request) {
    const Kernel& kernel = kernel_named(registry, request.kernel);
    const Kernel& peer = kernel_named(registry, request.peer);
    // The sums must be exact in both; can_take says whether both hold the factors.
    const auto bits = [](const Kernel& of) {
        return std::pair(ElementTypes(of.any(), *of.op).exact_bits(), of.any().exact_bits());
    };
    const bool is_peer_narrower = bits(peer) < bits(kernel);
    const Case checked = case_of(request, is_peer_narrower ? peer : kernel);
    CaseContext context(checked, registry, ValueKind::integers);
    const auto inputs = context.inputs_of(context.pass());
    for (const Kernel* taker : {&kernel, &peer})
        if (!context.can_take(*taker, inputs))
            return Outcome::skipped(taker->name + " can't hold the data of " +
                                    context.kernel().name);
    CallResult mine = context.call(kernel, inputs);
    if (const std::string complaint = mine.complaint(); !complaint.empty())
        return Outcome::failed(complaint);
    const CallResult theirs = context.call(peer, inputs);
    if (const std::string complaint = theirs.complaint(); !complaint.empty())
        return Outcome::skipped(peer.name + " fails: " + complaint);
    std::vector<Expected> expected;
    for (std::size_t i = 0; i < theirs.outputs.size(); ++i) {
        const std::string& name = context.pass().outputs[i];
        if (!store_alike(context.op(), ElementTypes(kernel.any()).of(context.op(), name),
                         ElementTypes(peer.any()).of(context.op(), name), mine.outputs[i]))
            return Outcome::skipped(peer.name + " and " + kernel.name + " round " + name +
                                    " to different types");
        expected.push_back(Expected::exactly(name, theirs.outputs[i]));
        expected.back().admits_nan = context.holds_nan();
    }
    return combine(compare_outputs(mine, expected), "differs from " + peer.name);
}

}  // namespace

Outcome measure(const Registry& registry, std::string_view line) {
    const MeasureRequest request = MeasureRequest::from_json(line);
    try {
        if (request.what == MeasureRequest::What::time) return measure_time(registry, request);
        if (request.what == MeasureRequest::What::agreement)
            return check_agreement(registry, request);
        Outcome outcome = Outcome::passed();
        outcome.measured = to_json(device_named(request.device).measure_ceilings());
        return outcome;
    } catch (const NotServed& reason) {
        return Outcome::skipped(reason.what());
    }
}

}  // namespace gradverify
