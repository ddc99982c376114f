// SPDX-License-Identifier: Apache-2.0
#include "properties/bench/measure.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "harness/base/text.hpp"
#include "harness/numbers/element_bits.hpp"
#include "harness/registry/element_types.hpp"
#include "properties/checking/context.hpp"

namespace gradverify {

namespace {

// Of the forward pass, whose results a gradient is given: half a minute of the reference in
// double, which takes some 2 ns for one, and some gigabytes.
constexpr double saved_multiply_adds = 1e10;

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

/// The largest number that each output of a peer holds when it is given these inputs.
///
/// **Errors** NotServed where it can't be told.
std::vector<double> largest_results(CaseContext& context, const Kernel& peer,
                                    const std::vector<Array<double>>& inputs) {
    const CallResult result = context.call(peer, inputs);
    std::vector<double> largest;
    for (const Array<double>& output : result.outputs) {
        largest.push_back(0.0);
        for (const double element : output.data)
            if (!(std::abs(element) <= largest.back())) largest.back() = std::abs(element);
    }
    const bool are_numbers =
        std::ranges::all_of(largest, [](double value) { return std::isfinite(value); });
    if (!result.complaint().empty() || !are_numbers)
        throw NotServed(peer.name + " can't tell how large the sums are");
    return largest;
}

/// The peer's exact sums, and what a kernel that transforms its data may be off by: the bound of
/// the tensor's longest sum were all inputs as large as their largest element, as
/// within_rounding_bound has it, but with the peer in the reference's place.
std::vector<Expected> norm_wise_expected(CaseContext& context, const Kernel& kernel,
                                         const Kernel& peer,
                                         const std::vector<Array<double>>& inputs,
                                         const std::vector<Array<double>>& sums) {
    const auto all_alike = [&](auto value_of) {
        auto levelled = inputs;
        for (std::size_t i = 0; i < levelled.size(); ++i)
            if (!context.op().tensor_named(context.pass().inputs[i]).holds_whole_numbers())
                std::ranges::fill(levelled[i].data, value_of(inputs[i].data));
        return levelled;
    };
    const auto terms =
        largest_results(context, peer, all_alike([](const std::vector<double>&) { return 1.0; }));
    const auto magnitudes =
        largest_results(context, peer, all_alike([](const std::vector<double>& data) {
                            double largest = 0.0;
                            for (const double element : data)
                                largest = std::max(largest, std::abs(element));
                            return largest;
                        }));
    const ScopedRounding rounding(rounding_of(kernel.any(), kernel.any().accumulator()));
    std::vector<Expected> expected;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::string& name = context.pass().outputs[i];
        // Each term is a product, which is rounded.
        const double of_products = current_rounding.gamma(1.0) * magnitudes[i];
        const Bounded longest(Bounded::Sum{magnitudes[i], of_products, magnitudes[i], terms[i]});
        const double bound = *kernel.any().norm_wise_growth * longest.error();
        const DType stored = ElementTypes(kernel.any()).of(context.op(), name);
        Array<Bounded> output{.sizes = sums[i].sizes, .data = {}};
        for (const double sum : sums[i].data)
            output.data.push_back(
                Bounded(Bounded::Sum{sum, bound, std::abs(sum), 0.0}).stored_in(stored));
        expected.push_back(Expected::within(name, output));
    }
    return expected;
}

/// The largest difference of two kernels' results, as a share of the output's largest; NaN aside.
double largest_share(const std::vector<Array<double>>& mine,
                     const std::vector<Array<double>>& theirs) {
    double share = 0.0;
    for (std::size_t i = 0; i < mine.size(); ++i) {
        double difference = 0.0, largest = 0.0;
        for (std::size_t j = 0; j < mine[i].data.size(); ++j) {
            difference = std::max(difference, std::abs(mine[i].data[j] - theirs[i].data[j]));
            largest = std::max(largest, std::abs(theirs[i].data[j]));
        }
        if (difference != 0.0) share = std::max(share, difference / largest);
    }
    return share;
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
    const double share = largest_share(mine.outputs, theirs.outputs);
    if (kernel.any().norm_wise_growth && share > 0.0) {
        const auto expected = norm_wise_expected(context, kernel, peer, inputs, theirs.outputs);
        Outcome outcome =
            combine(compare_outputs(mine, expected),
                    "is further from " + peer.name + " than its transforms can explain");
        const std::string distance = "at most " + print_rounded(share) + " of the largest";
        if (outcome.verdict == Verdict::passed) outcome.message = distance;
        if (outcome.verdict == Verdict::vacuous)
            outcome.message =
                "its transforms may be off by more than the results themselves; it "
                "differs from " +
                peer.name + " by " + distance;
        return outcome;
    }
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
