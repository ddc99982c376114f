// SPDX-License-Identifier: Apache-2.0
#include "properties/shrinking/shrink_case.hpp"

#include <rapidcheck.h>

#include "properties/data/simpler.hpp"
#include "properties/data/values.hpp"
#include "properties/problems/enumerate.hpp"
#include "properties/problems/generator.hpp"

namespace gradverify {
namespace {

/// Longer listings are not reduced, since each run would carry them.
constexpr std::size_t most_listed = 16384;

bool fails_with(ShrinkTrials& trials, const Data& data) {
    Case candidate = trials.smallest();
    candidate.data = data;
    return trials.fails(candidate);
}

/// Walks down from one of these that fails, if one does.
bool walk_data(ShrinkTrials& trials, const rc::Seq<rc::Shrinkable<Data>>& simpler) {
    bool has_failed = false;
    walk(
        rc::shrinkable::just(trials.smallest().data, simpler),
        [&](const Data& data) {
            const bool fails = fails_with(trials, data);
            has_failed |= fails;
            return fails;
        },
        [&] { return trials.may_go_on(); });
    return has_failed;
}

/// Runs the smaller problems in order with the failure's own few values, until one fails.
Minimality carry_values(const SupportedProblems& supported, ShrinkTrials& trials,
                        const Kernel& kernel, const Minimality& before) {
    const Operator& op = *kernel.op;
    const Case start = trials.smallest();
    ProblemEnumerator smaller(supported, {.distance = start.problem.distance()});
    Minimality claim{.kind = before.kind};
    for (auto next = smaller.next(); next && *next < start.problem; next = smaller.next()) {
        Case candidate = start;
        candidate.problem = *next;
        candidate.setting.before = before_on(kernel, start, *next);
        const auto carried = carried_data(op, start.problem, *next, start.data.elements);
        if (!carried || !trials.may_go_on()) break;
        candidate.data = *carried;
        if (trials.fails(candidate)) return claim;
        claim.of = ++claim.passed;
    }
    return before;
}

}  // namespace

void shrink_data(ShrinkTrials& trials, const Operator& op, const std::vector<DataElement>& listed) {
    const Problem problem = trials.smallest().problem;
    if (walk_data(trials, one_hot_data(op, problem, listed)) || listed.size() > most_listed) return;
    // A listing is longer than the seed's one word, and kept only if it becomes small.
    ShrinkTrials reduction = trials;
    if (walk_data(reduction, rc::seq::just(listed_data(listed))) &&
        reduction.smallest().data.elements.size() <= most_elements)
        trials = reduction;
    else
        trials.count(reduction.runs() - trials.runs());
}

void shrink_setting(ShrinkTrials& trials) {
    walk(
        setting_tree(trials.smallest().setting),
        [&](const Setting& setting) {
            Case candidate = trials.smallest();
            candidate.setting = setting;
            return trials.fails(candidate);
        },
        [] { return true; });
}

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
    Minimality minimality = shrink_problem(supported, problems, trials, options);
    trials.start(options.data);
    if (list_data) shrink_data(trials, *kernel.op, list_data(trials.smallest()));
    const Data& shown = trials.smallest().data;
    if (hangs_on_values(shown) || (shown.is_explicit && takes_indices(*kernel.op))) {
        const Problem larger = trials.smallest().problem;
        trials.start(options.carried);
        minimality = carry_values(supported, trials, kernel, minimality);
        trials.start(options.data);
        if (trials.smallest().problem < larger)
            shrink_data(trials, *kernel.op, list_data(trials.smallest()));
    }
    shrink_setting(trials);
    return {.smallest = trials.smallest(),
            .outcome = trials.outcome(),
            .minimality = minimality,
            .runs = trials.runs()};
}

}  // namespace gradverify
