// SPDX-License-Identifier: Apache-2.0
#include "properties/explaining/explain.hpp"

#include "properties/data/dense.hpp"

namespace gradverify {

namespace {

/// Asks on dense data first, since on zeros too many agree; then on the failure's own data.
std::string witnesses_of(const Kernel& kernel, const Shrunk& shrunk, const CaseRunner& runner) {
    const Case& smallest = shrunk.smallest;
    const Property& property = *find_property(smallest.property);
    // Without a wrong element the kernel wrote elsewhere, or crashed.
    if (!property.compares_values || shrunk.outcome.worst.empty() ||
        !witnesses().applies_to(kernel))
        return {};
    Case asked = smallest;
    asked.property = witnesses().name;
    std::string of_agreement;
    for (int draw = 0; draw < dense_draw_count(kernel, asked.property); ++draw) {
        asked.data =
            dense_case(kernel, smallest.property, smallest.device, smallest.problem, draw).data;
        const Outcome outcome = runner(asked);
        if (outcome.verdict == Verdict::failed) return outcome.message;
        if (outcome.verdict == Verdict::passed) of_agreement = outcome.message;
    }
    if (property.is_bounded) return of_agreement;
    asked.data = smallest.data;
    const Outcome outcome = runner(asked);
    return outcome.verdict == Verdict::failed ? outcome.message : std::string();
}

}  // namespace

void explain(const Kernel& kernel, Shrunk& shrunk, const CaseRunner& runner) {
    ShrinkTrials trials(shrunk.smallest, shrunk.outcome, runner);
    ProblemTrials problems(kernel, shrunk.smallest, trials);
    const SupportedProblems supported(*kernel.op, *kernel.pass, kernel.any());
    shrunk.generality = generalize(supported, shrunk.smallest.problem, problems, trials);
    shrunk.witnesses = witnesses_of(kernel, shrunk, runner);
}

}  // namespace gradverify
