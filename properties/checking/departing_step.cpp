// SPDX-License-Identifier: Apache-2.0
#include "properties/checking/departing_step.hpp"

#include <algorithm>
#include <cmath>

#include "harness/numbers/autodiff/decisions.hpp"

namespace gradverify {

namespace {

/// A tensor that flowed: an output of the kernel, or else an input.
const std::vector<double>& flowed(CaseContext& context, const CallResult& result,
                                  const std::string& name) {
    const auto& outputs = context.pass().outputs;
    const auto at = std::ranges::find(outputs, name);
    return at == outputs.end()
               ? context.inputs[name].data
               : result.outputs[static_cast<std::size_t>(at - outputs.begin())].data;
}

struct Part {
    const Operator& op;
    const PassSpec& pass;
    Problem problem;
};

bool are_integers(const std::vector<Array<double>>& arrays) {
    return std::ranges::all_of(arrays, [](const Array<double>& array) {
        return std::ranges::all_of(array.data,
                                   [](double value) { return value == std::round(value); });
    });
}

/// The reference's very numbers where the whole chain is exact, else within one layer's bound.
std::vector<Expected> expected_of(const CaseContext& context, const Step& step, const Part& part,
                                  const std::vector<Array<double>>& taken) {
    if (context.sums_integers_exactly() && part.op.is_exact_at(part.problem) && are_integers(taken))
        return all_exactly(part.pass, reference_outputs(part.op, part.pass, part.problem, taken));
    const ScopedRounding rounding(
        rounding_of(context.declaration(), context.declaration().accumulator()));
    std::vector<Expected> expected;
    for (auto& output : bounded_outputs(part.op, part.pass, part.problem, taken)) {
        const std::string& name = part.pass.outputs[expected.size()];
        const std::string& tensor = step.tensor(name);
        if (context.rounds_when_stored(tensor))
            for (Bounded& element : output.data)
                element = element.stored_in(context.types().of(context.op(), tensor));
        expected.push_back(Expected::within(name, output));
    }
    return expected;
}

/// The outcome of one step: skipped where that is unknown or undecided.
Outcome outcome_of(CaseContext& context, const Step& step, const CallResult& result) {
    const std::size_t dot = step.pass.find('.');
    const Operator* op = context.registry().find_operator(step.pass.substr(0, dot));
    const PassSpec* pass = op ? op->find_pass(step.pass.substr(dot + 1)) : nullptr;
    if (!pass) return Outcome::skipped("there is no such pass");
    const Part part{*op, *pass, Problem::parse(op->space, step.problem(context.problem()))};
    std::vector<Array<double>> taken;
    for (const std::string& name : pass->taken_by_reference())
        taken.push_back(
            {op->sizes_of(name, part.problem), flowed(context, result, step.tensor(name))});
    try {
        const auto expected = expected_of(context, step, part, taken);
        std::vector<Comparison> comparisons;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const std::string& whole = step.tensor(pass->outputs[i]);
            comparisons.push_back(compare(flowed(context, result, whole), expected[i]));
            for (WrongElement& wrong : comparisons.back().worst) wrong.tensor = whole;
        }
        return combine(comparisons, "departs");
    } catch (const UndecidedComparison& undecided) {
        return Outcome::skipped(undecided.what());
    }
}

}  // namespace

std::string departing_step(CaseContext& context, const CallResult& result) {
    const auto& steps = context.pass().steps;
    const KernelDeclaration& declared = context.declaration();
    // Such a kernel's buffers do not hold the results of its steps.
    if (steps.empty() || declared.takes_output_mask || declared.norm_wise_growth ||
        declared.adds_to_some())
        return {};
    int undecided = 0;
    for (const Step& step : steps) {
        const Outcome outcome = outcome_of(context, step, result);
        undecided += outcome.verdict == Verdict::skipped;
        if (outcome.verdict != Verdict::failed) continue;
        return "; the first tensor that departs is " + outcome.worst.front().tensor + ", of step " +
               std::to_string(&step - steps.data() + 1) + " of " + std::to_string(steps.size()) +
               ", " + step.pass +
               ": that kernel is wrong, was given another tensor, or its result was written over";
    }
    if (undecided > 0)
        return "; no step departs by itself, but " + std::to_string(undecided) + " of " +
               std::to_string(steps.size()) + " can't be decided";
    return "; no step departs by itself, so the operator's steps are not its reference";
}

}  // namespace gradverify
