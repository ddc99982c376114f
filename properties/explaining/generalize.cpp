// SPDX-License-Identifier: Apache-2.0
#include "properties/explaining/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "harness/base/text.hpp"
#include "properties/explaining/challenges.hpp"
#include "properties/explaining/problem_values.hpp"
#include "properties/explaining/rule.hpp"
#include "properties/problems/cost.hpp"

namespace gradverify {

namespace {

// Problems with many parameters changed, before the first fit and then to break each rule.
constexpr int joint_problems = 48, problems_of_challenge = 36;
constexpr std::size_t problems_inside = 24;
// Most draws of many parameters are not supported, empty, or were run before.
constexpr int draws_per_problem = 12;
// More rounds hardly ever find a rule.
constexpr int rounds_maximum = 12, unfit_maximum = 3;
// Problems that contradict a rule, and those that are run between each and the base.
constexpr std::size_t surprises_maximum = 4;
constexpr int looks_around = 12;
// Where data decide, a limit with fewer failing values may be chance.
constexpr std::size_t values_of_limit = 4;
// A longer clause that zeros need is told as an exception.
constexpr std::size_t terms_with_zeros = 2;
// Problems that fail and are drawn again, to see whether data decide.
constexpr std::size_t problems_drawn = 6;
// With fewer, only what single parameters do is told.
constexpr std::size_t problems_of_rule = 12;

// The most that a problem may cost: a share of the budget, or a multiple of the base's cost.
constexpr double work_share = 0x1p-4, times_smallest = 4.0;

const FittedRule no_rule{{{}}};

class Generalizer {
  public:
    Generalizer(const SupportedProblems& supported, const Problem& smallest,
                ProblemTrials& problems, ShrinkTrials& trials, const RunBudget& budget,
                const DrawsThere& draws)
        : supported_(supported),
          values_(supported, smallest),
          problems_(problems),
          trials_(trials),
          draws_(draws),
          cost_of_(supported),
          share_maximum_(std::max(work_share, times_smallest * cost_of_(smallest).share_of({}))),
          budget_(budget),
          half_{.runs = budget.runs / 2, .seconds = budget.seconds / 2.0},
          challenges_(values_, seen_, smallest),
          lines_(static_cast<std::size_t>(values_.class_count())) {}

    Generality generalize() {
        add(values_.base(), true);
        trials_.start(half_);
        change_one_at_a_time();
        trials_.start(half_);
        try_joint_problems(joint_problems, no_rule);
        auto rule = find_rule();
        if (rule) rule = fit_to_zeros(*std::move(rule));
        if (rule && !draws_.differ()) draw_elsewhere();
        if (rule && draws_.differ() && (may_be_chance(*rule) || !withstands_draws())) rule.reset();
        return {.text = rule ? text_of(*rule) : text_of_lines(),
                .is_rule = rule.has_value(),
                .problems = std::ssize(seen_)};
    }

  private:
    using Values = ProblemValues::Row;

    bool may_go_on() const { return trials_.may_go_on(); }
    std::int64_t base(int which) const { return values_.base(which); }
    int class_count() const { return values_.class_count(); }

    void add(const Values& values, bool fails) {
        known_[values] = fails;
        seen_.push_back({values_.with_sizes(values), fails});
    }

    /// Whether a size in the rule depends on the parameter.
    bool shapes(int which, const std::set<int>& spoken_of) const {
        return std::ranges::any_of(seen_, [&](const Observation& one) {
            Values values(one.values.begin(), one.values.begin() + class_count());
            at(values, which) = base(which);
            values = values_.with_sizes(std::move(values));
            return std::ranges::any_of(spoken_of, [&](int of) {
                return of >= class_count() && at(values, of) != at(one.values, of);
            });
        });
    }

    /// Whether the problem fails; nothing where it is not supported, costs too much or says
    /// nothing.
    std::optional<bool> try_problem(const std::optional<Values>& values) {
        if (!values) return std::nullopt;
        if (const auto known = known_.find(*values); known != known_.end()) return known->second;
        const auto problem = affordable(*values);
        if (!problem || !may_go_on()) return std::nullopt;
        problems_.fails(*problem);
        const std::optional<bool> fails = problems_.fails_likewise(*problem);
        if (fails) add(*values, *fails);
        if (problems_.wants_zeros(*problem)) zeros_.push_back({values_.with_sizes(*values), false});
        otherwise_ += problems_.fails_otherwise(*problem);
        return fails;
    }

    /// Breadth first, so that a small budget still changes each parameter.
    void change_one_at_a_time() {
        std::vector<std::vector<std::int64_t>> spreads;
        std::size_t longest = 0;
        for (int which = 0; which < class_count(); ++which) {
            at(lines_, which)[base(which)] = true;
            spreads.push_back(values_.spread(which));
            longest = std::max(longest, spreads.back().size());
        }
        std::vector<std::pair<int, std::int64_t>> changes;
        for (std::size_t i = 0; i < longest; ++i)
            for (int which = 0; which < class_count(); ++which) {
                const auto& values = at(spreads, which);
                if (i < values.size()) changes.emplace_back(which, values[i]);
            }
        const std::size_t at_once = problems_.problems_at_once();
        for (std::size_t i = 0; i < changes.size(); ++i) {
            if (at_once > 1 && i % (at_once / 2) == 0)
                expect(std::span(changes).subspan(i, std::min(at_once, changes.size() - i)));
            change_one(changes[i].first, changes[i].second);
        }
    }

    void expect(std::span<const std::pair<int, std::int64_t>> changes) {
        std::vector<Problem> next;
        for (const auto& change : changes)
            if (const auto values = values_.with({change}); values && !known_.contains(*values))
                if (auto problem = affordable(*values)) next.push_back(*std::move(problem));
        problems_.expect(next);
    }

    /// Nothing where the problem is not supported, or costs too much.
    std::optional<Problem> affordable(const Values& values) {
        Problem problem = values_.problem_of(values);
        if (!supported_.contains(problem) || cost_of_(problem).share_of({}) > share_maximum_)
            return std::nullopt;
        return problem;
    }

    void change_one(int which, std::int64_t value) {
        const auto values = values_.with({{which, value}});
        const auto fails = try_problem(values);
        const bool is_zero =
            values && !zeros_.empty() && zeros_.back().values == values_.with_sizes(*values);
        if (!fails && !is_zero) return;
        // Where another parameter had to change too, only the rule uses it.
        Values alone = values_.base();
        at(alone, which) = value;
        if (*values == alone) at(lines_, which)[value] = fails.value_or(false);
    }

    /// Runs up to `count` new problems that say something, by turns for each clause.
    void try_joint_problems(int count, const FittedRule& rule) {
        const std::size_t wanted = seen_.size() + static_cast<std::size_t>(count);
        for (int i = 0; i < count * draws_per_problem; ++i) {
            if (seen_.size() == wanted || !may_go_on()) return;
            try_problem(challenges_.joint(rule, static_cast<std::size_t>(i) % rule.clauses.size()));
        }
    }

    /// A rule that agrees with all that was run, the last of it to break the rule.
    std::optional<FittedRule> find_rule() {
        int unfit = 0;
        for (int round = 0; round < rounds_maximum && may_go_on(); ++round) {
            if (seen_.size() < problems_of_rule) return std::nullopt;
            const auto rule = fit_rule(seen_, {.texts = values_.value_texts()});
            if (!rule && ++unfit == unfit_maximum) return std::nullopt;
            const std::size_t before = seen_.size();
            try_joint_problems(problems_of_challenge, rule ? *rule : no_rule);
            if (!rule) continue;
            for (std::size_t i = 0; i < problems_inside; ++i)
                try_problem(challenges_.inside(rule->clauses[i % rule->clauses.size()]));
            const std::vector<Values> surprises = contradictions(*rule, before);
            for (const Values& surprise : surprises) {
                look_around(surprise);
                close_in(*rule, surprise);
            }
            if (!surprises.empty()) continue;
            if (tiles_were_tried_) return may_go_on() ? rule : std::nullopt;
            tiles_were_tried_ = true;
            if (!try_whole_tiles(*rule)) return rule;
        }
        return std::nullopt;
    }

    /// Whether whole tiles, which chance hardly ever draws, contradict the rule.
    bool try_whole_tiles(const FittedRule& rule) {
        std::size_t surprises = 0;
        for (const std::map<int, std::int64_t>& wanted : challenges_.whole_tiles()) {
            const auto values = values_.with(wanted);
            const auto fails = try_problem(values);
            if (!fails || rule.agrees_with({values_.with_sizes(*values), *fails})) continue;
            look_around(*values);
            if (!*fails) look_at_passing(*values);
            if (++surprises == surprises_maximum) break;
        }
        return surprises > 0;
    }

    /// A rule as simple that also agrees with problems at which zeros were wanted and given, if
    /// there is one.
    FittedRule fit_to_zeros(FittedRule rule) {
        const auto agrees = [&](const Observation& one) { return rule.agrees_with(one); };
        if (std::ranges::all_of(zeros_, agrees)) return rule;
        std::vector<Observation> all = seen_;
        all.insert(all.end(), zeros_.begin(), zeros_.end());
        const auto fitted =
            fit_rule(all, {.terms_maximum = terms_with_zeros, .texts = values_.value_texts()});
        if (fitted && fitted->clauses.size() == 1) return *fitted;
        is_but_for_zeros_ = true;
        return rule;
    }

    /// Whether data decide at other problems, from the largest to the smallest: where many elements
    /// are drawn, one of them nearly always fails.
    void draw_elsewhere() {
        const std::vector<Problem> failing = problems_that(true);
        const std::size_t drawn = std::min(failing.size(), problems_drawn);
        trials_.start(half_);
        for (std::size_t i = 0; i < drawn && !draws_.differ() && may_go_on(); ++i) {
            const Problem& problem = failing[i * failing.size() / drawn];
            draws_ = problems_.draws_at(problem);
            if (draws_.differ()) drawn_at_ = problem.print();
        }
    }

    /// Whether problems that pass also do so with draws that were not run.
    bool withstands_draws() {
        trials_.start(half_);
        std::vector<Problem> passing = problems_that(false);
        std::ranges::reverse(passing);  // the smallest first
        return std::ranges::none_of(passing, [&](const Problem& problem) {
            return may_go_on() && problems_.draws_at(problem, draws_.run).failing > 0;
        });
    }

    /// The largest first.
    std::vector<Problem> problems_that(bool fails) const {
        std::vector<Problem> problems;
        for (const auto& [values, failed] : known_)
            if (failed == fails) problems.push_back(values_.problem_of(values));
        std::ranges::sort(problems, [](const Problem& a, const Problem& b) { return b < a; });
        return problems;
    }

    bool passes(const std::map<int, std::int64_t>& wanted) {
        return try_problem(values_.with(wanted)) == false;
    }

    /// Reduces a passing problem to the changes that it needs, and tries parts and multiples of
    /// these, alone and with all else at random.
    void look_at_passing(const Values& passing) {
        std::map<int, std::int64_t> needed = values_.changed_in(passing);
        // Divisors first, as they bring others along; and again, as fewer changes may be cheaper.
        for (std::size_t before = 0; before != needed.size();) {
            before = needed.size();
            for (const int which : values_.domain().draw_order) {
                auto fewer = needed;
                if (fewer.erase(which) > 0 && passes(fewer)) needed = std::move(fewer);
            }
        }
        for (const auto& [which, value] : needed)
            for (const std::int64_t other :
                 {value - 1, value + 1, value / 2, value * 2, value * 3, value / 4, value / 8,
                  value + value / 4, value + value / 2}) {
                auto wanted = needed;
                wanted[which] = other;
                try_problem(values_.with(wanted));
            }
        for (int i = 0; i < looks_around; ++i) try_problem(challenges_.near(needed));
    }

    std::vector<Values> contradictions(const FittedRule& rule, std::size_t from) const {
        std::vector<Values> all;
        for (std::size_t i = from; i < seen_.size() && all.size() < surprises_maximum; ++i)
            if (!rule.agrees_with(seen_[i])) all.push_back(seen_[i].values);
        return all;
    }

    /// Shows which of its values matter.
    void look_around(const Values& surprise) {
        for (int i = 0; i < looks_around && may_go_on(); ++i)
            try_problem(challenges_.in_part(surprise));
    }

    /// Halves the way from each limit of the rule to the next problem that ended otherwise.
    void close_in(const FittedRule& rule, const Values& surprise) {
        const bool fails = known_.at({surprise.begin(), surprise.begin() + class_count()});
        const std::map<int, std::int64_t> wanted = values_.changed_in(surprise);
        for (const auto& clause : rule.clauses)
            for (const Term& term : clause) {
                const int of = term.parameters.front();
                const bool is_limit =
                    term.parameters.size() == 1 &&
                    (term.kind == Term::Kind::at_least || term.kind == Term::Kind::at_most);
                if (!is_limit || of >= class_count()) continue;
                std::int64_t near = at(surprise, of);
                auto far = next_that(!fails, of, near, term.kind == Term::Kind::at_most);
                while (far && std::abs(*far - near) > 1) {
                    const std::int64_t middle = near + (*far - near) / 2;
                    auto changed = wanted;
                    changed[of] = middle;
                    const auto there = try_problem(values_.with(changed));
                    if (!there) break;
                    (*there == fails ? near : *far) = middle;
                }
            }
    }

    /// The next value, up or down, at which a problem failed, or did not.
    std::optional<std::int64_t> next_that(bool fails, int which, std::int64_t from, bool up) const {
        std::optional<std::int64_t> next;
        for (const Observation& one : seen_) {
            const std::int64_t value = at(one.values, which);
            if (one.fails != fails || (up ? value <= from : value >= from)) continue;
            if (!next || (up ? value < *next : value > *next)) next = value;
        }
        return next;
    }

    std::string text_of(const FittedRule& rule) const {
        std::set<int> spoken_of, idle;
        for (const auto& clause : rule.clauses)
            for (const Term& term : clause)
                spoken_of.insert(term.parameters.begin(), term.parameters.end());
        for (int which = 0; which < class_count(); ++which) {
            const bool was_varied = std::ranges::any_of(seen_, [&](const Observation& one) {
                return at(one.values, which) != base(which);
            });
            if (was_varied && !spoken_of.contains(which) && !shapes(which, spoken_of))
                idle.insert(which);
        }
        const std::string when = rule.print(values_.names(), values_.value_texts());
        const char* const fails = otherwise_ > 0 ? "fails so " : "fails ";
        std::string text = fails + (when.empty()            ? "everywhere"
                                    : rule.is_of_exceptions ? "everywhere but where " + when
                                                            : "wherever " + when);
        if (is_but_for_zeros_) text += ", unless zeros alone are wanted";
        if (otherwise_ > 0)
            text += fmt::format(", and in another way at {} problem{}", otherwise_,
                                otherwise_ == 1 ? "" : "s");
        if (draws_.differ()) text += fmt::format("; data decide there: {}", text_of_draws());
        return text + text_of_idle(idle, "");
    }

    std::string text_of_idle(const std::set<int>& idle, const char* alone) const {
        if (idle.empty()) return {};
        return fmt::format("; {}{} {} matter", values_.names_of(idle), alone,
                           idle.size() == 1 ? "doesn't" : "don't");
    }

    /// `2 of 12 draws fail at the smallest problem`
    std::string text_of_draws() const {
        return fmt::format("{} of {} draw{} fail{} at {}", draws_.failing, draws_.compared,
                           draws_.compared == 1 ? "" : "s",
                           draws_.failing == 1 || draws_.compared == 1 ? "s" : "", drawn_at_);
    }

    /// `k >= 2`, or the values where they follow no rule; nothing where chance may have made them.
    std::string text_of_line(int which) const {
        std::vector<Observation> seen;
        std::vector<std::string> fails, passes;
        const ValueTexts texts = values_.value_texts().subspan(static_cast<std::size_t>(which), 1);
        for (const auto& [value, failed] : at(lines_, which)) {
            seen.push_back({{value}, failed});
            (failed ? fails : passes).push_back(print_value(texts, 0, value));
        }
        const std::string& name = at(values_.names(), which);
        const auto rule =
            fit_rule(seen, {.failing_minimum = 1, .terms_maximum = 1, .texts = texts});
        if (draws_.differ() && !(rule && is_limit(*rule) && fails.size() >= values_of_limit))
            return {};
        if (rule) return rule->print({&name, 1}, texts);
        return name + " is " + joined(fails) + " but not " + joined(passes);
    }

    /// Of problems that fail by chance, some always lie together, and others have in common that
    /// two sizes differ, as most do. Limits withstand the problems that are run on both of their
    /// sides.
    static bool may_be_chance(const FittedRule& rule) {
        return rule.is_of_exceptions || rule.clauses.size() > 1 ||
               std::ranges::any_of(rule.clauses, [](const std::vector<Term>& clause) {
                   return std::ranges::any_of(clause, [](const Term& term) {
                       return term.kind == Term::Kind::unequal ||
                              term.kind == Term::Kind::different ||
                              term.kind == Term::Kind::other_residue ||
                              term.kind == Term::Kind::no_multiple ||
                              term.kind == Term::Kind::residue || term.kind == Term::Kind::multiple;
                   });
               });
    }

    static bool is_limit(const FittedRule& rule) {
        return rule.clauses.size() == 1 && rule.clauses[0].size() == 1 &&
               (rule.clauses[0][0].kind == Term::Kind::at_least ||
                rule.clauses[0][0].kind == Term::Kind::at_most);
    }

    /// The search has a budget of its own, whatever time the run has left.
    std::string no_rule_yet() const {
        return trials_.runs_left() <= 0
                   ? fmt::format("no rule was found in the {} runs for it", budget_.runs)
                   : fmt::format("no rule was found in the {:.3g} s of runs for it",
                                 budget_.seconds);
    }

    std::string text_of_lines() const {
        std::set<int> idle;
        std::vector<std::string> matter;
        for (int which = 0; which < class_count(); ++which) {
            const auto& line = at(lines_, which);
            const bool always =
                std::ranges::all_of(line, [](const auto& entry) { return entry.second; });
            if (!always)
                if (std::string line_text = text_of_line(which); !line_text.empty())
                    matter.push_back(std::move(line_text));
            if (always && line.size() > 1) idle.insert(which);
        }
        if (matter.empty() && idle.empty() && !draws_.differ()) return "nothing else could be run";
        std::string text = draws_.differ()
                               ? "no rule of sizes fits, as data decide: " + text_of_draws()
                           : may_go_on() ? "no simple rule fits"
                                         : no_rule_yet();
        if (!matter.empty())
            text += fmt::format("; with one parameter changed it fails{} where {}",
                                otherwise_ > 0 ? " so" : "", joined(matter, ", where "));
        return text + text_of_idle(idle, " alone");
    }

    const SupportedProblems& supported_;
    const ProblemValues values_;
    ProblemTrials& problems_;
    ShrinkTrials& trials_;
    DrawsThere draws_;
    std::string drawn_at_ = "the smallest problem";
    std::vector<Observation> zeros_;  ///< problems at which zeros were wanted and given
    bool is_but_for_zeros_ = false;   ///< the rule does not agree with these
    std::int64_t otherwise_ = 0;      ///< problems that fail in another way
    CostModel cost_of_;
    double share_maximum_;
    RunBudget budget_, half_;
    bool tiles_were_tried_ = false;
    std::map<Values, bool> known_;
    std::vector<Observation> seen_;
    RuleChallenges challenges_;
    /// By class: whether it fails at a value, all others at the base.
    std::vector<std::map<std::int64_t, bool>> lines_;
};

}  // namespace

Generality generalize(const SupportedProblems& supported, const Problem& smallest,
                      ProblemTrials& problems, ShrinkTrials& trials, const RunBudget& budget,
                      const DrawsThere& draws) {
    return Generalizer(supported, smallest, problems, trials, budget, draws).generalize();
}

}  // namespace gradverify
