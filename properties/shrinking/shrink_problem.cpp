// SPDX-License-Identifier: Apache-2.0
#include "properties/shrinking/shrink_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "properties/problems/enumerate.hpp"
#include "properties/problems/generator.hpp"
#include "properties/problems/smaller.hpp"

namespace gradverify {
namespace {

// Each round begins at a smaller problem than the one before.
constexpr int rounds_maximum = 4;
// How far from the smallest problem those are that are run first.
constexpr std::int64_t near_distance = 2;
// A failure that takes a larger distance than this hangs on one size, such as that of a launch's
// grid or of its shared memory: what is near the smallest problems tells nothing of it.
constexpr std::int64_t far_distance = 4096;

// The most blocks in a grid's second and third dimension.
constexpr std::int64_t most_blocks = 65535;

/// An enumeration whose next problems are told before they are asked for.
class Ahead {
  public:
    Ahead(ProblemEnumerator problems, const ProblemTrials& trials)
        : problems_(std::move(problems)), trials_(trials) {}

    std::optional<Problem> next() {
        if (upcoming_.size() <= trials_.problems_at_once() / 2 && !is_over_) look_ahead();
        if (upcoming_.empty()) return std::nullopt;
        Problem next = std::move(upcoming_.front());
        upcoming_.erase(upcoming_.begin());
        return next;
    }
    /// See ProblemEnumerator.
    bool gave_up() const { return upcoming_.empty() && problems_.gave_up(); }

  private:
    void look_ahead() {
        const std::size_t most = trials_.problems_at_once();
        while (upcoming_.size() < most && !is_over_) {
            if (auto next = problems_.next())
                upcoming_.push_back(*std::move(next));
            else
                is_over_ = true;
        }
        if (most > 1) trials_.expect(upcoming_);
    }

    ProblemEnumerator problems_;
    const ProblemTrials& trials_;
    std::vector<Problem> upcoming_;
    bool is_over_ = false;
};

class ProblemShrinker {
  public:
    ProblemShrinker(const SupportedProblems& supported, ProblemTrials& problems,
                    ShrinkTrials& trials, const ShrinkOptions& options)
        : supported_(supported),
          problems_(problems),
          trials_(trials),
          options_(options),
          remaining_(ProblemEnumerator(supported, {.steps = options.enumeration_steps}), problems) {
    }

    Minimality shrink() {
        if (is_far()) {
            trials_.start(options_.bisection);
            bisect();
        }
        trials_.start(is_far() ? options_.far : options_.near);
        if (run_smaller_ones(near_distance)) return proven(all_smaller());
        for (int round = 0; round < rounds_maximum; ++round) {
            trials_.start(is_far() ? options_.bisection : options_.descent);
            walk(
                problem_tree(supported_, smallest()),
                [&](const Problem& problem) { return problems_.fails(problem); },
                [&] { return trials_.may_go_on(); });
            trials_.start(options_.certification);
            if (is_affordable() && run_smaller_ones(EnumerationLimits{}.distance))
                return proven(all_smaller());
            const Problem top = smallest();
            trials_.start(is_far() && exceeds_box_budget(top) ? options_.far : options_.box);
            const Minimality boxed = run_box(top);
            if (smallest() == top) return proven(boxed);
        }
        return {};
    }

  private:
    const Problem& smallest() const { return trials_.smallest().problem; }

    bool is_far() const { return smallest().distance() > far_distance; }

    /// Takes each class of parameters to the least value that fails, if all above it do.
    void bisect() {
        const RankDomain& domain = *supported_.domain_of(smallest().rank());
        std::vector<int> order = domain.draw_order;
        // The others first: with these at their smallest, large ones that pass take less time.
        std::stable_partition(order.begin(), order.end(),
                              [&, found = Assignment(domain, smallest())](int which) {
                                  return found[which] <= most_blocks;
                              });
        for (const int which : order) {
            const auto value_in = [&](const Problem& problem) {
                return Assignment(domain, problem)[which];
            };
            const auto fails_at = [&](std::int64_t value) {
                const auto smaller = smaller_by_one(supported_, smallest(), which, value);
                return smaller && trials_.may_go_on() && problems_.fails(*smaller);
            };
            std::int64_t passes = domain.classes[static_cast<std::size_t>(which)].smallest;
            if (fails_at(passes)) continue;
            // A launch of too many blocks fails at once, and large ones that pass take long.
            if (value_in(smallest()) > most_blocks && fails_at(most_blocks + 1) &&
                !fails_at(most_blocks))
                passes = most_blocks;
            while (std::abs(value_in(smallest()) - passes) > 1 && trials_.may_go_on()) {
                const std::int64_t middle = passes + (value_in(smallest()) - passes) / 2;
                if (!fails_at(middle)) passes = middle;
            }
        }
    }

    /// Whether the box holds more problems than may be run, by its sides.
    bool exceeds_box_budget(const Problem& top) const {
        double problems = 1.0;
        for (std::size_t i = 0; i < top.slots().size(); ++i) {
            const std::int64_t usual = top.space().spec(top.slots()[i]).default_value;
            problems *= 1.0 + std::abs(static_cast<double>(top[static_cast<int>(i)] - usual));
        }
        return problems > static_cast<double>(options_.box.runs);
    }

    /// Runs the smaller problems in order, from where it last stopped. True when none is left.
    bool run_smaller_ones(std::int64_t distance) {
        while (true) {
            if (!next_) next_ = remaining_.next();
            if (!next_) return !remaining_.gave_up();
            if (!(*next_ < smallest())) return true;
            if (next_->distance() > distance || !trials_.may_go_on()) return false;
            // All before it passed: if it fails, it is the smallest.
            if (problems_.fails(*next_)) return true;
            ++passed_;
            silent_ += !problems_.shown(*next_);
            next_.reset();
        }
    }

    bool is_affordable() const {
        const std::int64_t most = passed_ + trials_.runs_left() / problems_.runs_per_problem();
        return count_before(supported_, smallest(), most + 1, options_.enumeration_steps) <= most;
    }

    Minimality all_smaller() const {
        return {.kind = Minimality::Kind::certified,
                .passed = passed_,
                .of = passed_,
                .silent = silent_,
                .draws = problems_.runs_per_problem()};
    }

    /// Runs the problems in the box of `top` in order, until one fails: then that is the smallest.
    Minimality run_box(const Problem& top) {
        Ahead box(ProblemEnumerator(supported_, {.distance = top.distance(),
                                                 .steps = options_.enumeration_steps,
                                                 .box = &top}),
                  problems_);
        Minimality boxed{.kind = Minimality::Kind::boxed, .draws = problems_.runs_per_problem()};
        for (auto next = box.next(); next && *next < top; next = box.next()) {
            if (++boxed.of > options_.box_counted) {
                --boxed.of;
                boxed.of_is_least = true;
                break;
            }
            if (!problems_.known(*next) && !trials_.may_go_on()) continue;
            if (problems_.fails(*next)) return {};
            ++boxed.passed;
            boxed.silent += !problems_.shown(*next);
        }
        boxed.of_is_least |= box.gave_up();
        return boxed;
    }

    /// The claim, if no smaller problem errored and dense cases show the failure.
    Minimality proven(const Minimality& claim) {
        if (!problems_.is_clean_below(smallest())) return {};
        if (!problems_.is_canonical() && !problems_.fails_canonically(Problem(smallest())))
            return {};
        return claim;
    }

    const SupportedProblems& supported_;
    ProblemTrials& problems_;
    ShrinkTrials& trials_;
    const ShrinkOptions& options_;
    Ahead remaining_;
    std::optional<Problem> next_;  ///< of remaining_, not yet run
    std::int64_t passed_ = 0;      ///< of remaining_: all before next_
    std::int64_t silent_ = 0;      ///< of these, that compared nothing
};

}  // namespace

Minimality shrink_problem(const SupportedProblems& supported, ProblemTrials& problems,
                          ShrinkTrials& trials, const ShrinkOptions& options) {
    return ProblemShrinker(supported, problems, trials, options).shrink();
}

}  // namespace gradverify
