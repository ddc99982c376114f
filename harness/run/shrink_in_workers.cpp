// SPDX-License-Identifier: Apache-2.0
#include "harness/run/shrink_in_workers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/interrupt.hpp"

namespace gradverify {

namespace {

/// Ends a search for a smaller case, which keeps what it has found.
struct NoTimeLeft {};

class Shrinking {
  public:
    Shrinking(const Suite& suite, WorkerPool& pool, const ShrinkLimits& limits)
        : suite_(suite), pool_(pool), limits_(limits) {}
    ~Shrinking() { pool_.expect({}); }
    Shrinking(const Shrinking&) = delete;
    Shrinking& operator=(const Shrinking&) = delete;

    /// The smallest case that has failed so far; nothing before the first.
    const std::optional<Shrunk>& best() const { return best_; }

    Shrunk shrink(const Case& found, const Outcome& outcome) {
        if (is_late()) return {.smallest = found, .outcome = outcome};
        if (outcome.discovery == Discovery::damaged)
            return explained(shrink(found, outcome, true), true);
        Shrunk shrunk = shrink(found, outcome, false);
        // One more run of a kernel that hangs would take all the time of a hang.
        if (is_late() && shrunk.outcome.discovery == Discovery::overstepped) return shrunk;
        // In a fresh process, as in `repro`.
        const Outcome again = run_alone(shrunk.smallest);
        if (again.verdict == Verdict::failed) return explained(std::move(shrunk), false);
        return shrink_with_state(shrunk, found);
    }

  private:
    bool is_late() const {
        return limits_.deadline && std::chrono::steady_clock::now() > *limits_.deadline;
    }

    Outcome run(const Case& checked, Patience patience, bool alone) {
        return pool_.run(checked,
                         {.patience = patience, .alone = alone, .meanwhile = limits_.meanwhile});
    }
    Outcome run_alone(const Case& checked) { return run(checked, Patience::full, true); }

    CaseRunner trial_runner(bool alone) {
        const auto trial = [this, alone](const Case& candidate) {
            if (is_late()) return Outcome::errored("no time is left");
            return run(candidate, Patience::trial, alone);
        };
        if (alone) return trial;
        return {trial, static_cast<std::size_t>(pool_.jobs()),
                [this](const auto& next) { pool_.expect({next.begin(), next.end()}); }};
    }

    /// An interruption costs the explanation only.
    Shrunk explained(Shrunk shrunk, bool alone) {
        const CaseRunner runner = trial_runner(alone);
        const bool is_explained = !shrunk.smallest.setting.before &&
                                  std::ranges::find(limits_.explained, shrunk.smallest.problem) !=
                                      limits_.explained.end();
        try {
            if (shrunk.outcome.overflows.empty())
                shrunk.outcome.add_overflows(suite_.overflows_of(shrunk.smallest, runner));
            if (!is_explained) suite_.explain(shrunk, runner);
        } catch (const Interrupted&) {
        }
        return shrunk;
    }

    Shrunk shrink(const Case& found, const Outcome& outcome, bool alone) {
        Shrunk shrunk = search(found, outcome, alone);
        if (shrunk.outcome.discovery != Discovery::overstepped) return shrunk;
        if (is_late()) return {.smallest = found, .outcome = outcome, .runs = shrunk.runs};
        shrunk.outcome = run(shrunk.smallest, Patience::full, alone);
        if (shrunk.outcome.verdict == Verdict::failed) return shrunk;
        return {.smallest = found, .outcome = outcome, .runs = shrunk.runs};
    }

    /// The smallest case that the suite finds, or the smallest that has failed when time is up.
    Shrunk search(const Case& found, const Outcome& outcome, bool alone) {
        Shrunk& best = best_.emplace(Shrunk{.smallest = found, .outcome = outcome});
        const CaseRunner trial = trial_runner(alone);
        const auto run = [&](const Case& candidate) {
            if (is_late()) throw NoTimeLeft();
            Outcome there = trial(candidate);
            ++best.runs;
            if (limits_.is_asked && there.verdict == Verdict::failed &&
                !fails_likewise(there, outcome))
                return Outcome::errored("fails otherwise: " + there.message);
            if (there.verdict == Verdict::failed && is_of_one_kind(there, outcome) &&
                !(best.smallest.problem < candidate.problem)) {
                best.smallest = candidate;
                best.outcome = there;
            }
            return there;
        };
        const CaseRunner runner(run, trial.width(),
                                [&](const std::vector<Case>& next) { trial.expect(next); });
        try {
            const auto [start, at_start] = smallest_known(found, outcome, runner);
            return suite_.shrink(start, at_start, runner);
        } catch (const NoTimeLeft&) {
            return best;
        }
    }

    /// The found case on the smallest known problem that shows its failure; itself if none does.
    std::pair<Case, Outcome> smallest_known(const Case& found, const Outcome& outcome,
                                            const CaseRunner& runner) const {
        std::vector<Problem> known = limits_.known;
        std::ranges::sort(known);
        for (const Problem& problem : known) {
            if (!(problem < found.problem)) break;
            Case candidate = found;
            candidate.problem = problem;
            candidate.data = {.seed = 1, .is_dense = true};
            Outcome there = runner(candidate);
            if (there.verdict == Verdict::failed && fails_likewise(there, outcome))
                return {std::move(candidate), std::move(there)};
        }
        return {found, outcome};
    }

    /// A failure that needs an earlier call in the same process. Each run has a process of its own.
    Shrunk shrink_with_state(const Shrunk& shrunk, const Case& found) {
        std::vector<Case> candidates = suite_.with_calls_before(shrunk.smallest);
        candidates.push_back(found);
        for (const Case& candidate : candidates) {
            if (is_late()) break;
            const Outcome outcome = run_alone(candidate);
            if (outcome.verdict != Verdict::failed) continue;
            Shrunk with_state = shrink(candidate, outcome, true);
            with_state.runs += shrunk.runs;
            if (with_state.smallest.setting.before)
                with_state.outcome.message = fmt::format(
                    "only after a call on {} in the same process, so the kernel keeps state "
                    "between calls: {}",
                    with_state.smallest.setting.before->print(), with_state.outcome.message);
            return explained(std::move(with_state), true);
        }
        Shrunk unrepeated{.smallest = found, .outcome = shrunk.outcome, .runs = shrunk.runs};
        unrepeated.outcome.message +=
            " (not again in a fresh process: the kernel keeps state between calls, or it fails by "
            "chance)";
        return unrepeated;
    }

    const Suite& suite_;
    WorkerPool& pool_;
    const ShrinkLimits& limits_;
    std::optional<Shrunk> best_;
};

}  // namespace

Shrunk shrink_in_workers(const Suite& suite, WorkerPool& pool, const Case& found,
                         const Outcome& outcome, const ShrinkLimits& limits) {
    Shrinking shrinking(suite, pool, limits);
    try {
        return shrinking.shrink(found, outcome);
    } catch (const Interrupted&) {
        return shrinking.best().value_or(Shrunk{.smallest = found, .outcome = outcome});
    }
}

}  // namespace gradverify
