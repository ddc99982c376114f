// SPDX-License-Identifier: Apache-2.0
#include "harness/shrink_in_workers.hpp"

#include "harness/interrupt.hpp"

namespace gradverify {

namespace {

class Shrinking {
  public:
    Shrinking(const Suite& suite, WorkerPool& pool) : suite_(suite), pool_(pool) {}

    Shrunk shrink(const Case& found, const Outcome& outcome) {
        if (outcome.discovery == Discovery::damaged)
            return explained(shrink(found, outcome, true), true);
        Shrunk shrunk = shrink(found, outcome, false);
        // Nothing ran before it there: what `repro` will see.
        const Outcome again = run_alone(shrunk.smallest);
        if (again.verdict == Verdict::failed) return explained(std::move(shrunk), false);
        return shrink_with_state(shrunk, found);
    }

  private:
    Outcome run_alone(const Case& checked) { return pool_.run(checked.print(), {.alone = true}); }

    CaseRunner trial_runner(bool alone) {
        return [this, alone](const Case& candidate) {
            return pool_.run(candidate.print(), {.patience = Patience::trial, .alone = alone});
        };
    }

    /// An interruption costs the explanation only.
    Shrunk explained(Shrunk shrunk, bool alone) {
        try {
            if (suite_.explain) suite_.explain(shrunk, trial_runner(alone));
        } catch (const Interrupted&) {
        }
        return shrunk;
    }

    Shrunk shrink(const Case& found, const Outcome& outcome, bool alone) {
        Shrunk shrunk = suite_.shrink(found, outcome, trial_runner(alone));
        if (shrunk.outcome.discovery != Discovery::overstepped) return shrunk;
        shrunk.outcome = pool_.run(shrunk.smallest.print(), {.alone = alone});
        if (shrunk.outcome.verdict == Verdict::failed) return shrunk;
        return {.smallest = found, .outcome = outcome, .runs = shrunk.runs};
    }

    /// A failure that needs an earlier call in the same process. Each run has a process of its own.
    Shrunk shrink_with_state(const Shrunk& shrunk, const Case& found) {
        std::vector<Case> candidates;
        if (suite_.with_calls_before) candidates = suite_.with_calls_before(shrunk.smallest);
        candidates.push_back(found);
        for (const Case& candidate : candidates) {
            const Outcome outcome = run_alone(candidate);
            if (outcome.verdict != Verdict::failed) continue;
            Shrunk with_state = shrink(candidate, outcome, true);
            with_state.runs += shrunk.runs;
            if (with_state.smallest.setting.before)
                with_state.outcome.message =
                    "only after a call on " + with_state.smallest.setting.before->print() +
                    " in the same process, so the kernel keeps state between calls: " +
                    with_state.outcome.message;
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
};

}  // namespace

Shrunk shrink_in_workers(const Suite& suite, WorkerPool& pool, const Case& found,
                         const Outcome& outcome) {
    try {
        return Shrinking(suite, pool).shrink(found, outcome);
    } catch (const Interrupted&) {
        return {.smallest = found, .outcome = outcome, .runs = 0};
    }
}

}  // namespace gradverify
