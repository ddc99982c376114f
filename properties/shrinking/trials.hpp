// SPDX-License-Identifier: Apache-2.0
// Runs candidates for a smaller reproducer, counts them and keeps the last that failed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "harness/cases/suite.hpp"

namespace gradverify {

/// The non-zero values of a case's tensors.
using ListData = std::function<std::vector<DataElement>(const Case&)>;

/// The most that a phase of shrinking may take: runs, and their processor time, whatever the load.
struct RunBudget {
    std::int64_t runs = 0;
    double seconds = 0.0;
};

class ShrinkTrials {
  public:
    using Alike = bool (*)(const Outcome&, const Outcome&);

    ShrinkTrials(Case found, Outcome outcome, const CaseRunner& runner,
                 Alike alike = is_of_one_kind)
        : smallest_(std::move(found)),
          outcome_(std::move(outcome)),
          runner_(&runner),
          alike_(alike) {}

    /// Runs the candidate. Only a failure like the found one makes it the smallest so far, so
    /// that shrinking does not go from a wrong value to a hang; another one counts as errored.
    Verdict run(const Case& candidate) {
        ++runs_;
        failed_otherwise_ = false;
        const auto begin = Clock::now();
        Outcome outcome = (*runner_)(candidate);
        // A worker that ended does not say how long it took.
        seconds_ += outcome.discovery == Discovery::answered && outcome.seconds_cpu > 0.0
                        ? outcome.seconds_cpu
                        : std::chrono::duration<double>(Clock::now() - begin).count();
        if (outcome.verdict != Verdict::failed) return outcome.verdict;
        failed_otherwise_ = !alike_(outcome_, outcome);
        if (failed_otherwise_) return Verdict::errored;
        smallest_ = candidate;
        outcome_ = std::move(outcome);
        return Verdict::failed;
    }
    bool fails(const Case& candidate) { return run(candidate) == Verdict::failed; }
    /// Whether the last run failed unlike the found case.
    bool failed_otherwise() const { return failed_otherwise_; }

    /// Starts a phase with a budget of its own.
    void start(RunBudget budget) {
        last_run_ = runs_ + budget.runs;
        last_second_ = seconds_ + budget.seconds;
    }
    bool may_go_on() const { return runs_ < last_run_ && seconds_ < last_second_; }
    std::int64_t runs_left() const { return last_run_ - runs_; }

    /// See CaseRunner.
    std::size_t width() const { return runner_->width(); }
    void expect(const std::vector<Case>& next) const { runner_->expect(next); }

    /// Counts runs that were made elsewhere.
    void count(std::int64_t runs) { runs_ += runs; }

    const Case& smallest() const { return smallest_; }
    const Outcome& outcome() const { return outcome_; }
    std::int64_t runs() const { return runs_; }

  private:
    using Clock = std::chrono::steady_clock;

    Case smallest_;
    Outcome outcome_;
    const CaseRunner* runner_;
    Alike alike_;
    bool failed_otherwise_ = false;
    std::int64_t runs_ = 0, last_run_ = 0;
    double seconds_ = 0.0, last_second_ = 0.0;
};

/// What dense draws' data came to at a problem, called as the failure was.
struct DrawsThere {
    int run = 0, compared = 0, failing = 0;
    /// Whether the data decide, and not the problem alone.
    bool differ() const { return failing < compared; }
};

/// The call before a case that goes to another problem: in the parameters in which the two calls
/// were alike they still are, if the kernel supports that.
std::optional<Problem> before_on(const Kernel& kernel, const Case& found, const Problem& problem);

/// The found case on another problem, its own data carried over as far as they can be.
Case moved_to(const Kernel& kernel, const Case& found, const Problem& problem);

/// Decides whether a problem fails: runs its dense cases, with the found case's call before it, and
/// remembers the answer. Where these don't show the failure on the found problem, `is_canonical` is
/// false, and the found case's own data and setting are tried as well.
class ProblemTrials {
  public:
    /// Runs the dense cases of the found problem; one that fails becomes the smallest of `trials`.
    ProblemTrials(const Kernel& kernel, const Case& found, ShrinkTrials& trials);

    /// Runs the problem's cases until one fails, unless it is known whether one does. What passes,
    /// is vacuous or is skipped has not failed.
    bool fails(const Problem& problem);
    /// Whether it fails; nothing when it was not run, or when a run of it errored.
    std::optional<bool> known(const Problem& problem) const;
    /// The same; nothing also when no run of it compared a value other than zero.
    std::optional<bool> shown(const Problem& problem) const;
    /// Whether it fails as the found case does, and not otherwise. Nothing where it was not run to
    /// an end, or compared zeros alone where values are what is wrong.
    std::optional<bool> fails_likewise(const Problem& problem) const;
    /// Whether its tensors have elements, and zeros were wanted and given in all runs.
    bool wants_zeros(const Problem& problem) const;
    bool fails_otherwise(const Problem& problem) const {
        return seen_.at(problem) == Seen::otherwise;
    }
    /// Runs draws of a problem in the found case's setting, from the first or a later one on,
    /// within the budget that is left.
    DrawsThere draws_at(const Problem& problem, int first = 0);

    /// `fails` will probably be asked for these next. So many are worth telling; one is none.
    std::size_t problems_at_once() const;
    void expect(const std::vector<Problem>& next) const;

    /// From now on each problem is also run with the found case's own values.
    void carry_data() { carries_data_ = true; }

    /// Whether dense cases show the failure on the found problem.
    bool is_canonical() const { return is_canonical_; }
    /// No run of a smaller problem errored.
    bool is_clean_below(const Problem& problem) const {
        return !least_errored_ || !(*least_errored_ < problem);
    }
    /// The most runs that one problem takes.
    std::int64_t runs_per_problem() const;
    /// Whether dense cases alone show that the problem fails.
    bool fails_canonically(const Problem& problem);

  private:
    enum class Seen { nothing, zeros, passed, failed, otherwise, errored };

    std::vector<Case> dense(const Problem& problem) const;
    std::vector<Case> as_found(const Problem& problem, const Data& dense) const;
    /// The cases that show whether a problem fails, in the order in which they are run.
    std::vector<Case> cases_of(const Problem& problem) const;

    const Kernel& kernel_;
    const Case found_;
    ShrinkTrials& trials_;
    std::map<Problem, Seen> seen_;
    bool is_canonical_ = false, carries_data_ = false;
    std::optional<Problem> least_errored_;
};

}  // namespace gradverify
