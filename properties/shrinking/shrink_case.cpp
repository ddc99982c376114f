// SPDX-License-Identifier: Apache-2.0
#include "properties/shrinking/shrink_case.hpp"

#include "properties/shrinking/shrink_data.hpp"

namespace gradverify {

Shrunk shrink_case(const Kernel& kernel, const Case& found, const Outcome& outcome,
                   const CaseRunner& runner, const ListData& list_data,
                   const ShrinkOptions& options) {
    ShrinkTrials trials(found, outcome, runner);
    if (found.setting.before) {
        Case alone = found;
        alone.setting.before.reset();
        // Or else the call before failed.
        Case before = alone;
        before.problem = *found.setting.before;
        if (!trials.fails(alone)) trials.run(before);
    }
    const Case start = trials.smallest();
    const SupportedProblems supported(*kernel.op, *kernel.pass, kernel.any());
    ProblemTrials problems(kernel, start, trials);
    const Minimality minimality = shrink_problem(supported, problems, trials, options);
    trials.start(options.data);
    if (list_data) shrink_data(trials, *kernel.op, list_data(trials.smallest()));
    shrink_setting(trials);
    return {.smallest = trials.smallest(),
            .outcome = trials.outcome(),
            .minimality = minimality,
            .runs = trials.runs()};
}

}  // namespace gradverify
