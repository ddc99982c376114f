// SPDX-License-Identifier: Apache-2.0
#include "properties/shrink.hpp"

#include <set>

#include "properties/draw_seed.hpp"
#include "properties/enumerate.hpp"
#include "properties/problem_tree.hpp"
#include "properties/shrink_data.hpp"

namespace gradverify {
namespace {

/// Shrinks the problem of a failing case.
class ProblemShrinker {
  public:
    ProblemShrinker(const SupportedProblems& supported, const Case& found, ShrinkTrials& trials,
                    const ShrinkTools& tools, const ShrinkOptions& options)
        : supported_(supported),
          found_(found),
          trials_(trials),
          tools_(tools),
          options_(options),
          remaining_(supported, {.steps = options.enumeration_steps}) {}

    /// Whether the result is proven to be the smallest.
    bool shrink() {
        trials_.start(options_.near);
        if (run_smaller_ones(options_.near_distance)) return is_clean_;
        trials_.start(options_.descent);
        descend_tree(
            supported_, trials_.smallest().problem,
            [&](const Problem& problem) { return fails_at(problem); },
            [&] { return trials_.may_go_on(); });
        trials_.start(options_.certification);
        return run_smaller_ones(EnumerationLimits{}.distance) && is_clean_;
    }

  private:
    /// Runs the smaller problems in order, from where it last stopped. True when there is none left
    /// that is smaller than the smallest failing one.
    bool run_smaller_ones(std::int64_t distance) {
        while (true) {
            if (!next_) next_ = remaining_.next();
            if (!next_) return !remaining_.gave_up();
            if (!(*next_ < trials_.smallest().problem)) return true;
            if (next_->distance() > distance || !trials_.may_go_on()) return false;
            // All before it passed: if it fails, it is the smallest.
            if (fails_at(*next_)) return true;
            next_.reset();
        }
    }

    bool fails_at(const Problem& problem) {
        std::vector<std::int64_t> key(problem.values().begin(), problem.values().end());
        if (passed_.contains(key)) return false;
        for (int draw = 0; draw < options_.draws; ++draw) {
            const Verdict verdict = trials_.run(tools_.redraw ? tools_.redraw(found_, problem, draw)
                                                              : redraw_case(found_, problem, draw));
            if (verdict == Verdict::failed) return true;
            if (verdict == Verdict::errored) is_clean_ = false;
        }
        passed_.insert(std::move(key));
        return false;
    }

    const SupportedProblems& supported_;
    const Case& found_;
    ShrinkTrials& trials_;
    const ShrinkTools& tools_;
    const ShrinkOptions& options_;
    ProblemEnumerator remaining_;
    std::optional<Problem> next_;  ///< of remaining_, not yet run
    std::set<std::vector<std::int64_t>> passed_;
    bool is_clean_ = true;  ///< no run errored
};

}  // namespace

Case redraw_case(const Case& found, const Problem& problem, int draw) {
    Case redrawn = found;
    redrawn.problem = problem;
    redrawn.data = {.seed = found.data.seed};
    if (draw == 0) return redrawn;
    // Short, so that a printed case is.
    redrawn.data.seed = draw_seed(found.data.seed, "redraw " + std::to_string(draw)) >> 40;
    if (found.device != "cpu") return redrawn;
    redrawn.setting.order = draw == 1 ? ThreadOrder::descending : ThreadOrder::random_warps;
    redrawn.setting.order_seed = draw == 1 ? 0 : redrawn.data.seed;
    return redrawn;
}

Shrunk shrink_case(const Kernel& kernel, const Case& found, const Outcome& outcome,
                   const CaseRunner& runner, const ShrinkTools& tools,
                   const ShrinkOptions& options) {
    ShrinkTrials trials(found, outcome, runner);
    if (found.setting.before) {
        Case alone = found;
        alone.setting.before.reset();
        // Or it was the call before that failed.
        if (!trials.fails(alone)) trials.run(redraw_case(alone, *found.setting.before, 0));
    }
    const Case start = trials.smallest();
    const SupportedProblems supported(*kernel.op, *kernel.pass, kernel.any());
    const bool minimal = ProblemShrinker(supported, start, trials, tools, options).shrink();
    trials.start(options.data);
    if (tools.list_data) shrink_data(trials, *kernel.op, tools.list_data(trials.smallest()));
    shrink_setting(trials);
    return {.smallest = trials.smallest(),
            .outcome = trials.outcome(),
            .minimal = minimal,
            .runs = trials.runs()};
}

}  // namespace gradverify
