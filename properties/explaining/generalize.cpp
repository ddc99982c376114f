// SPDX-License-Identifier: Apache-2.0
#include "properties/explaining/generalize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/base/random.hpp"
#include "harness/base/text.hpp"
#include "properties/explaining/problem_values.hpp"
#include "properties/explaining/rule.hpp"
#include "properties/problems/cost.hpp"

namespace gradverify {

namespace {

// Problems with many parameters changed: before the first fit, then to break each rule.
constexpr std::size_t joint_problems = 48, problems_of_challenge = 60;
// Most draws of many parameters are not supported, empty, or were run before.
constexpr std::size_t draws_per_problem = 12;
// A rule that has not held by then will not.
constexpr int rounds_maximum = 12, unfit_maximum = 3;
// Problems that contradict a rule, and how many are run between each and the smallest one.
constexpr std::size_t surprises_maximum = 4;
constexpr int looks_around = 12;
// With fewer, it is the parameters changed alone that are told.
constexpr std::size_t problems_of_rule = 12;
// The most that a problem may cost, as a share of what a drawn one may; or so much more than the
// smallest one, which may be dear itself.
constexpr double work_share = 0x1p-4, times_smallest = 4.0;

const FittedRule no_rule{{{}}};

class Generalizer {
  public:
    Generalizer(const SupportedProblems& supported, const Problem& smallest,
                ProblemTrials& problems, ShrinkTrials& trials)
        : supported_(supported),
          values_(supported, smallest),
          problems_(problems),
          trials_(trials),
          cost_of_(supported),
          random_(mix_seed(1, smallest.print())),
          share_maximum_(std::max(work_share, times_smallest * share_of(smallest))) {}

    Generality generalize(const RunBudget& budget) {
        add(values_.base(), true);
        // Half for each, so that where runs are slow something is known of both.
        const RunBudget half{.runs = budget.runs / 2, .seconds = budget.seconds / 2.0};
        trials_.start(half);
        change_one_at_a_time();
        trials_.start(half);
        challenge(no_rule, joint_problems);
        const auto rule = find_rule();
        return {.text = rule ? text_of_rule(*rule) : text_of_lines(),
                .is_rule = rule.has_value(),
                .problems = std::ssize(seen_)};
    }

  private:
    using Values = ProblemValues::Row;

    int class_count() const { return values_.class_count(); }
    double share_of(const Problem& problem) const { return cost_of_(problem).share_of({}); }
    std::int64_t below(std::uint64_t limit) {
        return static_cast<std::int64_t>(random_.below(limit));
    }

    void add(const Values& values, bool fails) {
        known_[values] = fails;
        seen_.push_back({values_.with_sizes(values), fails});
    }

    /// Runs the problem nearest to the smallest one with these values, unless it was run, is not
    /// supported, or costs too much. Adds it to those that were seen if it says something.
    void try_values(const Values& wanted) {
        const auto values = values_.with(wanted);
        if (!values || known_.contains(*values) || !trials_.may_go_on()) return;
        const Problem problem = values_.problem_of(*values);
        if (!supported_.contains(problem) || share_of(problem) > share_maximum_) return;
        problems_.fails(problem);
        if (const auto fails = problems_.shown(problem)) add(*values, *fails);
    }

    /// Breadth first, so that a budget that ends early has seen something of each.
    void change_one_at_a_time() {
        bool are_left = true;
        for (std::size_t i = 0; are_left; ++i) {
            are_left = false;
            for (int which = 0; which < class_count(); ++which) {
                const std::vector<std::int64_t> spread = values_.spread(which);
                if (i >= spread.size()) continue;
                are_left = true;
                try_values(values_.with_value(which, spread[i]));
            }
        }
    }

    /// Runs problems with many parameters changed that say something and were not run before, if
    /// they are found; by turns for each clause of the rule.
    void challenge(const FittedRule& rule, std::size_t count) {
        const std::size_t wanted = seen_.size() + count;
        for (std::size_t i = 0; i < count * draws_per_problem; ++i) {
            if (seen_.size() == wanted || !trials_.may_go_on()) return;
            try_values(values_around(rule.clauses[i % rule.clauses.size()]));
        }
    }

    /// The parameters that a clause speaks of to one side or the other of where it says that
    /// failing begins, the others at random.
    Values values_around(const Clause& clause) {
        Values now = values_.base();
        const std::uint64_t keep = 1 + random_.below(3);
        for (int which = 0; which < class_count(); ++which)
            if (random_.below(4) >= keep) set(now, which, any_value(which));
        for (const Term& term : clause)
            if (!random_.one_in(4)) move_to_edge(term, now);
        return now;
    }

    void set(Values& now, int which, std::int64_t value) const {
        now[static_cast<std::size_t>(which)] =
            std::clamp(value, values_.class_at(which).lowest, values_.class_at(which).highest);
    }

    /// Mostly small or near the failing one.
    std::int64_t any_value(int which) {
        if (random_.one_in(12)) return telling_lengths[random_.below(std::size(telling_lengths))];
        const std::int64_t from =
            random_.one_in(2) ? values_.base(which) - 1 : values_.class_at(which).smallest;
        return from + below(random_.one_in(4) ? 12 : 5);
    }

    void move_to_edge(const Term& term, Values& now) {
        std::vector<int> parameters = term.left;
        if (term.right >= 0) parameters.push_back(term.right);
        // The parameters that make a size are moved at random.
        if (std::ranges::max(parameters) >= class_count()) return;
        const int moved = parameters[random_.below(parameters.size())];
        std::int64_t edge = term.value;
        if (term.modulus > 0) {
            edge += below(4) * term.modulus;
        } else if (term.right >= 0) {
            const int other = parameters[0] == moved ? parameters[1] : parameters[0];
            edge = now[static_cast<std::size_t>(other)] * (random_.one_in(4) ? 1 + below(3) : 1);
        } else if (parameters.size() > 1) {
            for (const int other : parameters) {
                if (other == moved) continue;
                // A limit that is prime shows only beside ones.
                if (random_.one_in(2)) set(now, other, values_.class_at(other).smallest);
                edge /= std::max<std::int64_t>(now[static_cast<std::size_t>(other)], 1);
            }
        } else if (random_.one_in(2)) {
            edge = inside_gap(moved, edge);
        }
        set(now, moved, edge + below(4) - 1);
    }

    /// Between this value and the next one beyond it that was run, so that a limit is closed in on.
    std::int64_t inside_gap(int which, std::int64_t edge) {
        std::set<std::int64_t> values;
        for (const Observation& one : seen_)
            values.insert(one.values[static_cast<std::size_t>(which)]);
        const auto above = values.upper_bound(edge), here = values.lower_bound(edge);
        const bool up = random_.one_in(2);
        if (up && above != values.end()) return edge + (*above - edge) / 2;
        if (!up && here != values.begin()) return edge - (edge - *std::prev(here)) / 2;
        return edge;
    }

    /// A rule that agrees with all that was run, the last problems being there to break it.
    std::optional<FittedRule> find_rule() {
        int unfit = 0;
        for (int round = 0; round < rounds_maximum && trials_.may_go_on(); ++round) {
            if (seen_.size() < problems_of_rule) return std::nullopt;
            const auto rule = fit_rule(seen_, values_.value_texts());
            if (!rule && ++unfit == unfit_maximum) return std::nullopt;
            const std::size_t before = seen_.size();
            challenge(rule ? *rule : no_rule, problems_of_challenge);
            if (!rule) continue;
            std::vector<Values> surprises;
            for (std::size_t i = before; i < seen_.size() && surprises.size() < surprises_maximum;
                 ++i)
                if (!rule->agrees_with(seen_[i])) surprises.push_back(seen_[i].values);
            if (surprises.empty()) return trials_.may_go_on() ? rule : std::nullopt;
            for (const Values& surprise : surprises) look_around(surprise);
        }
        return std::nullopt;
    }

    /// Runs problems with some of these values and some of the smallest problem's.
    void look_around(const Values& surprise) {
        for (int i = 0; i < looks_around; ++i) {
            Values now = values_.base();
            for (std::size_t which = 0; which < now.size(); ++which)
                if (random_.one_in(2)) now[which] = surprise[which];
            try_values(now);
        }
    }

    /// Whether a number of the rows that were seen changes with the parameter alone.
    bool shapes(int which, int size) const {
        return std::ranges::any_of(seen_, [&](const Observation& one) {
            Values values(one.values.begin(), one.values.begin() + class_count());
            values[static_cast<std::size_t>(which)] = values_.base(which);
            const auto at = static_cast<std::size_t>(size);
            return values_.with_sizes(std::move(values))[at] != one.values[at];
        });
    }

    std::string text_of_rule(const FittedRule& rule) const {
        std::set<int> idle;
        for (int which = 0; which < class_count(); ++which)
            if (std::ranges::any_of(seen_, [&](const Observation& one) {
                    return one.values[static_cast<std::size_t>(which)] != values_.base(which);
                }))
                idle.insert(which);
        for (const Clause& clause : rule.clauses)
            for (const Term& term : clause) {
                std::vector<int> spoken_of = term.left;
                if (term.right >= 0) spoken_of.push_back(term.right);
                for (const int of : spoken_of)
                    std::erase_if(idle, [&](int which) {
                        return which == of || (of >= class_count() && shapes(which, of));
                    });
            }
        const std::string when = rule.print(values_.names(), values_.value_texts());
        return fmt::format("fails {}{}{}", when.empty() ? "everywhere" : "wherever " + when,
                           rule.is_complete ? "" : ", and in some other problems",
                           text_of_idle(idle, "", rule.is_complete ? "" : " there"));
    }

    std::string text_of_idle(const std::set<int>& idle, std::string_view alone,
                             std::string_view there) const {
        if (idle.empty()) return {};
        return fmt::format("; {}{} {} matter{}", values_.names_of(idle), alone,
                           idle.size() == 1 ? "doesn't" : "don't", there);
    }

    /// The problems that were seen with no other parameter changed, as rows of this one alone.
    std::vector<Observation> line_of(int which) const {
        std::map<std::int64_t, bool> line;
        for (const auto& [values, fails] : known_) {
            const std::int64_t value = values[static_cast<std::size_t>(which)];
            if (values == values_.with_value(which, value)) line[value] = fails;
        }
        std::vector<Observation> seen;
        for (const auto& [value, fails] : line) seen.push_back({{value}, fails});
        return seen;
    }

    /// `k >= 2`, or the values where they follow no rule.
    std::string text_of_line(int which, const std::vector<Observation>& line) const {
        const auto at = static_cast<std::size_t>(which);
        const std::string& name = values_.names()[at];
        const ValueTexts texts = values_.value_texts().subspan(at, 1);
        const auto rule = fit_rule(line, texts, 1);
        if (rule && rule->is_complete && rule->clauses.size() == 1)
            return rule->print({&name, 1}, texts);
        std::vector<std::string> fails, passes;
        for (const Observation& one : line)
            (one.fails ? fails : passes).push_back(text_of(one.values[0], texts, 0));
        return fmt::format("{} is {} but not {}", name, joined(fails), joined(passes));
    }

    std::string text_of_lines() const {
        std::set<int> idle;
        std::vector<std::string> matter;
        for (int which = 0; which < class_count(); ++which) {
            const std::vector<Observation> line = line_of(which);
            if (!std::ranges::all_of(line, &Observation::fails))
                matter.push_back(text_of_line(which, line));
            else if (line.size() > 1)
                idle.insert(which);
        }
        if (matter.empty() && idle.empty()) return "nothing else could be run";
        std::string text =
            trials_.may_go_on() ? "no simple rule fits" : "no rule was found in time";
        if (!matter.empty())
            text += "; with one parameter changed it fails where " + joined(matter, ", where ");
        return text + text_of_idle(idle, " alone", "");
    }

    const SupportedProblems& supported_;
    const ProblemValues values_;
    ProblemTrials& problems_;
    ShrinkTrials& trials_;
    CostModel cost_of_;
    SplitMix64 random_;
    double share_maximum_;
    std::map<Values, bool> known_;
    std::vector<Observation> seen_;
};

}  // namespace

Generality generalize(const SupportedProblems& supported, const Problem& smallest,
                      ProblemTrials& problems, ShrinkTrials& trials, const RunBudget& budget) {
    return Generalizer(supported, smallest, problems, trials).generalize(budget);
}

}  // namespace gradverify
