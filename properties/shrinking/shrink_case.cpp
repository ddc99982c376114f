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

/// Whether a problem fails with `draws` more; nothing where that isn't known.
struct MoreDraws {
    std::function<std::optional<bool>(const Problem&)> fails;
    std::int64_t draws = 0;
};

/// Runs the smaller problems in order with more draws, until one fails.
Minimality run_again(const SupportedProblems& supported, const ShrinkTrials& trials,
                     const MoreDraws& more, Minimality before) {
    const Problem start = trials.smallest().problem;
    ProblemEnumerator smaller(supported, {.distance = start.distance()});
    Minimality claim{.kind = before.kind, .draws = before.draws + more.draws};
    auto next = smaller.next();
    for (; next && *next < start; next = smaller.next()) {
        const auto fails = trials.may_go_on() ? more.fails(*next) : std::nullopt;
        if (!fails) return before;
        if (*fails) return claim;
        claim.of = ++claim.passed;
    }
    if (!smaller.gave_up()) before.draws = claim.draws;
    return before;
}

/// With the failure's own few values.
MoreDraws own_values(ShrinkTrials& trials, const Kernel& kernel) {
    const auto fails = [&, start = trials.smallest()](const Problem& problem) {
        Case candidate = start;
        candidate.problem = problem;
        candidate.setting.before = before_on(kernel, start, problem);
        auto carried = carried_data(*kernel.op, start.problem, problem, start.data.elements);
        if (!carried) return std::optional<bool>();
        candidate.data = *std::move(carried);
        return std::optional(trials.fails(candidate));
    };
    return {fails, 1};
}

/// Runs smaller problems with the found case's data, and where data decide at the smallest one
/// with further draws.
Minimality draw_again(const SupportedProblems& supported, ShrinkTrials& trials,
                      const Kernel& kernel, const Case& found, const ShrinkOptions& options,
                      const Minimality& minimality) {
    const Case start = trials.smallest();
    ShrinkTrials further = trials;
    further.start(options.again);
    ProblemTrials problems(kernel, start, further);
    const DrawsThere there = problems.draws_at(start.problem);
    const std::int64_t draws = there.differ() ? there.run : 0;
    const auto fails = [&](const Problem& problem) {
        return std::optional(further.fails(moved_to(kernel, found, problem)) ||
                             (draws > 0 && problems.draws_at(problem, there.run).failing > 0));
    };
    const Minimality claim = run_again(supported, further, {fails, 1 + draws}, minimality);
    if (further.smallest().problem < start.problem)
        trials = further;
    else
        trials.count(further.runs() - trials.runs());
    return claim;
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
    if (minimality.passed > 0 && minimality.passed < options.again.runs)
        minimality = draw_again(supported, trials, kernel, start, options, minimality);
    trials.start(options.data);
    if (list_data) shrink_data(trials, *kernel.op, list_data(trials.smallest()));
    const Data& shown = trials.smallest().data;
    if (hangs_on_values(shown) || (shown.is_explicit && takes_indices(*kernel.op))) {
        const Problem larger = trials.smallest().problem;
        trials.start(options.carried);
        minimality = run_again(supported, trials, own_values(trials, kernel), minimality);
        trials.start(options.data);
        if (trials.smallest().problem < larger)
            shrink_data(trials, *kernel.op, list_data(trials.smallest()));
    }
    shrink_setting(trials);
    return {{minimality}, trials.smallest(), trials.outcome(), trials.runs()};
}

}  // namespace gradverify
