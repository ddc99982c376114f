// SPDX-License-Identifier: Apache-2.0
#include "properties/generalize.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "harness/random.hpp"
#include "harness/text.hpp"
#include "properties/failure_rule.hpp"
#include "properties/problem_cost.hpp"
#include "properties/problem_values.hpp"

namespace gradverify {

namespace {

// Problems with many parameters changed: before the first fit, then to break each rule.
constexpr int joint_problems = 48, challenges = 36;
// Of a kernel that takes whole tiles alone hardly any other problem passes. The long one only where
// few multiply-adds come of it.
constexpr std::int64_t long_tile = 64, short_tile = 16;
// Between the limits of a rule: so many, and so far.
constexpr std::size_t problems_inside = 24;
constexpr std::int64_t length_inside = 15;
// Most draws of many parameters are not supported, empty, or were run before.
constexpr int draws_per_problem = 12;
// A rule that has not held by then will not.
constexpr int rounds_maximum = 12, unfit_maximum = 3;
// What contradicts a rule is looked at from between it and the smallest failing problem.
constexpr std::size_t surprises_maximum = 4;
constexpr int looks_around = 12;
// With fewer, it is the parameters changed alone that are told.
constexpr std::size_t problems_of_rule = 12;

const FittedRule no_rule{{{}}};

/// What a clause allows of a parameter, without what is far beyond.
struct Limits {
    std::int64_t lowest, highest;

    explicit Limits(const SlotClass& slot_class)
        : lowest(slot_class.smallest), highest(slot_class.highest) {}
    void narrow(const Term& term) {
        using enum Term::Kind;
        if (term.kind == at_least || term.kind == equal) lowest = std::max(lowest, term.value);
        if (term.kind == at_most || term.kind == equal) highest = std::min(highest, term.value);
    }
    std::int64_t length() const { return std::min<std::int64_t>(highest - lowest, length_inside); }
};

class Generalizer {
  public:
    Generalizer(const SupportedProblems& supported, const Problem& smallest,
                ProblemTrials& problems, ShrinkTrials& trials, const GeneralizeOptions& options)
        : supported_(supported),
          values_(supported, smallest),
          problems_(problems),
          trials_(trials),
          cost_of_(supported),
          random_(mix_seed(1, smallest.print())),
          random_of_tests_(mix_seed(2, smallest.print())),
          lines_(values_.domain().classes.size()) {
        budget_.multiply_adds *= options.work_share;
        budget_.thread_barriers *= options.work_share;
        budget_.bytes *= options.work_share;
        base_share_ = cost_of_(smallest).share_of(budget_);
        half_ = {.runs = options.budget.runs / 2, .seconds = options.budget.seconds / 2.0};
    }

    Generality generalize() {
        add(values_.base(), true);
        // Half for each, so that where runs are slow something is known of both.
        trials_.start(half_);
        change_one_at_a_time();
        trials_.start(half_);
        try_joint_problems(joint_problems, no_rule);
        const auto rule = find_rule();
        Generality found{.text = rule ? text_of(*rule) : text_of_lines(),
                         .is_rule = rule.has_value(),
                         .problems = static_cast<std::int64_t>(seen_.size())};
        return found;
    }

  private:
    using Values = ProblemValues::Row;

    bool may_go_on() const { return trials_.may_go_on(); }
    std::int64_t base(int which) const { return values_.base(which); }
    const SlotClass& class_at(int which) const { return values_.class_at(which); }
    int class_count() const { return values_.class_count(); }

    void add(const Values& values, bool fails) {
        known_[values] = fails;
        seen_.push_back({values_.with_sizes(values), fails});
    }

    /// Whether a size that the rule speaks of depends on the parameter.
    bool shapes(int which, const std::set<int>& spoken_of) const {
        return std::ranges::any_of(seen_, [&](const Observation& one) {
            Values values(one.values.begin(), one.values.begin() + class_count());
            values[static_cast<std::size_t>(which)] = base(which);
            values = values_.with_sizes(std::move(values));
            return std::ranges::any_of(spoken_of, [&](int of) {
                return of >= class_count() && values[static_cast<std::size_t>(of)] !=
                                                  one.values[static_cast<std::size_t>(of)];
            });
        });
    }

    /// Whether the problem with these values fails; nothing where it is not supported, costs too
    /// much or says nothing.
    std::optional<bool> try_problem(const std::optional<Values>& values) {
        if (!values) return std::nullopt;
        if (const auto known = known_.find(*values); known != known_.end()) return known->second;
        const Problem problem = values_.problem_of(*values);
        if (!supported_.contains(problem) ||
            cost_of_(problem).share_of(budget_) > std::max(1.0, base_share_) || !may_go_on())
            return std::nullopt;
        problems_.fails(problem, trials_);
        const std::optional<bool> fails = problems_.shown(problem);
        if (fails) add(*values, *fails);
        return fails;
    }

    /// Breadth first, so that a budget that ends early has seen something of each.
    void change_one_at_a_time() {
        std::vector<std::vector<std::int64_t>> spreads;
        std::size_t longest = 0;
        for (int which = 0; which < class_count(); ++which) {
            lines_[static_cast<std::size_t>(which)][base(which)] = true;
            spreads.push_back(values_.spread(which));
            longest = std::max(longest, spreads.back().size());
        }
        for (std::size_t i = 0; i < longest; ++i)
            for (int which = 0; which < class_count(); ++which) {
                const auto& values = spreads[static_cast<std::size_t>(which)];
                if (i < values.size()) change_one(which, values[i]);
            }
    }

    void change_one(int which, std::int64_t value) {
        const auto values = values_.with({{which, value}});
        const auto fails = try_problem(values);
        if (!fails) return;
        // Where something else had to change too, only the rule makes use of it.
        Values alone = values_.base();
        alone[static_cast<std::size_t>(which)] = value;
        if (*values == alone) lines_[static_cast<std::size_t>(which)][value] = *fails;
    }

    /// Many parameters changed: those that a rule speaks of to one side or the other of where it
    /// says that failing begins, the others at random.
    std::optional<Values> joint(const FittedRule& rule, std::size_t clause) {
        Values now = values_.base();
        const std::uint64_t keep = 1 + random_.below(3);
        for (int which = 0; which < class_count(); ++which) {
            if (class_at(which).is_fixed() || random_.below(4) < keep) continue;
            now[static_cast<std::size_t>(which)] =
                std::clamp(any_value(which), class_at(which).lowest, class_at(which).highest);
        }
        // Elsewhere the other clauses would hide what this one says.
        for (std::size_t other = 0; other < rule.clauses.size(); ++other)
            if (other != clause && random_.one_in(2)) leave(rule.clauses[other], now);
        for (const Term& term : rule.clauses[clause])
            if (!random_.one_in(4))
                challenge(term, now, rule.is_of_exceptions && !random_.one_in(3));
        return values_.with(changed_in(now));
    }

    /// Moves a value beyond one of the limits.
    void leave(const std::vector<Term>& clause, Values& now) {
        const Term& term = clause[random_.below(clause.size())];
        const int of = term.parameters.front();
        if (of >= class_count()) return;
        const auto further = static_cast<std::int64_t>(random_.below(3));
        const std::int64_t value =
            term.kind == Term::Kind::at_least ? term.value - 1 - further : term.value + 1 + further;
        now[static_cast<std::size_t>(of)] =
            std::clamp(value, class_at(of).lowest, class_at(of).highest);
    }

    /// Mostly small or near the failing one.
    std::int64_t any_value(int which) {
        if (random_.one_in(12)) return telling_lengths[random_.below(std::size(telling_lengths))];
        const std::int64_t from = random_.one_in(2) ? base(which) - 1 : class_at(which).smallest;
        return from + static_cast<std::int64_t>(random_.below(random_.one_in(4) ? 12 : 5));
    }

    /// So many that say something and were not run before, if they are found; by turns for each
    /// clause.
    void try_joint_problems(int count, const FittedRule& rule) {
        const std::size_t wanted = seen_.size() + static_cast<std::size_t>(count);
        for (int i = 0; i < count * draws_per_problem; ++i) {
            if (seen_.size() == wanted || !may_go_on()) return;
            try_problem(joint(rule, static_cast<std::size_t>(i) % rule.clauses.size()));
        }
    }

    /// Anywhere between the limits of the clauses, by turns.
    void try_inside(const FittedRule& rule) {
        for (std::size_t i = 0; i < problems_inside; ++i) {
            std::map<int, Limits> limits;
            for (const Term& term : rule.clauses[i % rule.clauses.size()]) {
                const int of = term.parameters.front();
                if (of >= class_count() || term.parameters.size() > 1) continue;
                limits.try_emplace(of, class_at(of)).first->second.narrow(term);
            }
            std::map<int, std::int64_t> wanted;
            for (const auto& [of, between] : limits)
                if (between.lowest <= between.highest)
                    wanted[of] =
                        between.lowest + static_cast<std::int64_t>(random_of_tests_.below(
                                             static_cast<std::uint64_t>(between.length()) + 1));
            for (int which = 0; which < class_count(); ++which)
                if (!limits.contains(which) && random_of_tests_.one_in(4))
                    wanted[which] =
                        base(which) + static_cast<std::int64_t>(random_of_tests_.below(3));
            try_problem(values_.with(wanted));
        }
    }

    /// Moves a value to the edge of the term, or over it; exactly, where chance would hardly meet
    /// all terms at once.
    void challenge(const Term& term, Values& now, bool exactly) {
        const int a = term.parameters[random_.below(term.parameters.size())];
        // The others move a size, at random.
        if (std::ranges::any_of(term.parameters, [&](int of) { return of >= class_count(); }))
            return;
        std::int64_t edge = term.value;
        if (term.modulus > 0) {
            edge = static_cast<std::int64_t>(random_.below(4)) * term.modulus + term.value;
        } else if (term.kind == Term::Kind::product_at_least) {
            double others = 1.0;
            for (const int other : term.parameters) {
                if (other == a) continue;
                // A limit that is prime shows only beside ones.
                std::int64_t& factor = now[static_cast<std::size_t>(other)];
                if (random_.one_in(2)) factor = class_at(other).smallest;
                others *= static_cast<double>(factor);
            }
            edge = others > 0.0 ? static_cast<std::int64_t>(static_cast<double>(edge) / others) : 1;
        } else if (term.parameters.size() == 2) {
            const int b = term.parameters[0] == a ? term.parameters[1] : term.parameters[0];
            edge = now[static_cast<std::size_t>(b)] *
                   (random_.one_in(4) ? 1 + static_cast<std::int64_t>(random_.below(3)) : 1);
        } else if (random_.one_in(3)) {
            edge = inside_gap(a, edge);
        }
        now[static_cast<std::size_t>(a)] =
            std::clamp(exactly ? edge : edge + static_cast<std::int64_t>(random_.below(4)) - 1,
                       class_at(a).lowest, class_at(a).highest);
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

    /// A rule that agrees with all that was run, the last problems of which were there to break it.
    std::optional<FittedRule> find_rule() {
        int unfit = 0;
        for (int round = 0; round < rounds_maximum && may_go_on(); ++round) {
            if (seen_.size() < problems_of_rule) return std::nullopt;
            const auto rule = fit_rule(seen_);
            if (!rule && ++unfit == unfit_maximum) return std::nullopt;
            const std::size_t before = seen_.size();
            try_joint_problems(challenges, rule ? *rule : no_rule);
            if (!rule) continue;
            try_inside(*rule);
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

    /// Two or three parameters of whole tiles, and no others, which is what chance hardly ever
    /// draws. Whether one contradicts the rule; what it takes to pass is then looked at.
    bool try_whole_tiles(const FittedRule& rule) {
        std::size_t surprises = 0;
        for (const std::map<int, std::int64_t>& wanted : whole_tiles()) {
            const auto values = values_.with(wanted);
            const auto fails = try_problem(values);
            if (!fails || rule.agrees_with({values_.with_sizes(*values), *fails})) continue;
            look_around(*values);
            if (!*fails) look_at_passing(*values);
            if (++surprises == surprises_maximum) break;
        }
        return surprises > 0;
    }

    /// All pairs of parameters, on every axis; and all of three that have none, such as channels.
    std::vector<std::map<int, std::int64_t>> whole_tiles() const {
        std::map<int, std::vector<int>> classes_of;  // by parameter
        for (int which = 0; which < class_count(); ++which)
            if (!class_at(which).is_fixed())
                classes_of[values_.parameter_of(which)].push_back(which);
        const auto with_tile = [&](std::initializer_list<int> parameters) {
            std::set<int> classes;
            for (const int parameter : parameters)
                classes.insert(classes_of[parameter].begin(), classes_of[parameter].end());
            const bool is_short =
                parameters.size() > 2 ||
                std::ranges::any_of(classes, [&](int which) { return values_.has_axis(which); });
            std::map<int, std::int64_t> wanted;
            for (const int which : classes) wanted[which] = is_short ? short_tile : long_tile;
            return wanted;
        };
        std::vector<std::map<int, std::int64_t>> all;
        for (const auto& [a, of_a] : classes_of)
            for (const auto& [b, of_b] : classes_of)
                if (a < b) all.push_back(with_tile({a, b}));
        std::erase_if(classes_of, [&](const auto& of) { return values_.has_axis(of.second[0]); });
        for (const auto& [a, of_a] : classes_of)
            for (const auto& [b, of_b] : classes_of)
                for (const auto& [c, of_c] : classes_of)
                    if (a < b && b < c) all.push_back(with_tile({a, b, c}));
        return all;
    }

    bool passes(const std::map<int, std::int64_t>& wanted) {
        return try_problem(values_.with(wanted)) == false;
    }

    /// Goes on from what passes with as little changed as can be: parts and multiples of what it
    /// takes, alone and with all else at random.
    void look_at_passing(const Values& passing) {
        std::map<int, std::int64_t> needed = changed_in(passing);
        // What must divide others first, as it would bring them along; and again, as without the
        // others it may not cost too much.
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
        for (int i = 0; i < looks_around; ++i) {
            std::map<int, std::int64_t> wanted;
            for (int which = 0; which < class_count(); ++which) {
                const auto of = needed.find(which);
                if (of != needed.end())
                    wanted[which] =
                        of->second / (1 + static_cast<std::int64_t>(random_of_tests_.below(2)));
                else if (random_of_tests_.one_in(3))
                    wanted[which] =
                        base(which) + static_cast<std::int64_t>(random_of_tests_.below(4));
            }
            try_problem(values_.with(wanted));
        }
    }

    std::vector<Values> contradictions(const FittedRule& rule, std::size_t from) const {
        std::vector<Values> all;
        for (std::size_t i = from; i < seen_.size() && all.size() < surprises_maximum; ++i)
            if (!rule.agrees_with(seen_[i])) all.push_back(seen_[i].values);
        return all;
    }

    /// Some of its values and some of the base's: which of them it takes shows.
    void look_around(const Values& surprise) {
        for (int i = 0; i < looks_around && may_go_on(); ++i) {
            std::map<int, std::int64_t> wanted;
            for (int which = 0; which < class_count(); ++which)
                if (surprise[static_cast<std::size_t>(which)] != base(which) && random_.one_in(2))
                    wanted[which] = surprise[static_cast<std::size_t>(which)];
            try_problem(values_.with(wanted));
        }
    }

    std::map<int, std::int64_t> changed_in(const Values& values) const {
        std::map<int, std::int64_t> changed;
        for (int which = 0; which < class_count(); ++which)
            if (values[static_cast<std::size_t>(which)] != base(which))
                changed[which] = values[static_cast<std::size_t>(which)];
        return changed;
    }

    /// How far each limit of the rule is off: halves the way to what was seen to end otherwise.
    void close_in(const FittedRule& rule, const Values& surprise) {
        const bool fails = known_.at({surprise.begin(), surprise.begin() + class_count()});
        const std::map<int, std::int64_t> wanted = changed_in(surprise);
        for (const auto& clause : rule.clauses)
            for (const Term& term : clause) {
                const int of = term.parameters.front();
                const bool is_limit =
                    term.kind == Term::Kind::at_least || term.kind == Term::Kind::at_most;
                if (!is_limit || of >= class_count()) continue;
                std::int64_t near = surprise[static_cast<std::size_t>(of)];
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

    /// The next value, up or down, at which something was seen to fail, or not to.
    std::optional<std::int64_t> next_that(bool fails, int which, std::int64_t from, bool up) const {
        std::optional<std::int64_t> next;
        for (const Observation& one : seen_) {
            const std::int64_t value = one.values[static_cast<std::size_t>(which)];
            if (one.fails != fails || (up ? value <= from : value >= from)) continue;
            if (!next || (up ? value < *next : value > *next)) next = value;
        }
        return next;
    }

    /// A parameter was seen at another value than the base's.
    bool was_varied(int which) const {
        return std::ranges::any_of(seen_, [&](const Observation& one) {
            return one.values[static_cast<std::size_t>(which)] != base(which);
        });
    }

    std::string text_of(const FittedRule& rule) const {
        std::set<int> idle;
        for (int which = 0; which < class_count(); ++which)
            if (was_varied(which)) idle.insert(which);
        std::set<int> spoken_of;
        for (const auto& clause : rule.clauses)
            for (const Term& term : clause)
                spoken_of.insert(term.parameters.begin(), term.parameters.end());
        std::erase_if(
            idle, [&](int which) { return spoken_of.contains(which) || shapes(which, spoken_of); });
        const std::string when = rule.print(values_.names());
        std::string text = when.empty()            ? "fails everywhere"
                           : rule.is_of_exceptions ? "fails everywhere but where " + when
                                                   : "fails wherever " + when;
        if (!rule.is_complete) text += ", and in some other problems";
        if (idle.empty()) return text;
        return text + "; " + values_.names_of(idle) + (idle.size() == 1 ? " doesn't" : " don't") +
               " matter" + (rule.is_complete ? "" : " there");
    }

    /// `k >= 2`, or the values where they follow no rule.
    std::string text_of_line(int which) const {
        std::vector<Observation> seen;
        std::vector<std::string> fails, passes;
        for (const auto& [value, failed] : lines_[static_cast<std::size_t>(which)]) {
            seen.push_back({{value}, failed});
            (failed ? fails : passes).push_back(std::to_string(value));
        }
        const std::string& name = values_.names()[static_cast<std::size_t>(which)];
        const auto rule = fit_rule(seen, {.failing_minimum = 1, .terms_maximum = 1});
        if (rule) return rule->print({&name, 1});
        return name + " is " + joined(fails) + " but not " + joined(passes);
    }

    std::string text_of_lines() const {
        std::set<int> idle;
        std::vector<std::string> matter;
        for (int which = 0; which < class_count(); ++which) {
            const auto& line = lines_[static_cast<std::size_t>(which)];
            const bool always =
                std::ranges::all_of(line, [](const auto& entry) { return entry.second; });
            if (!always) matter.push_back(text_of_line(which));
            if (always && line.size() > 1) idle.insert(which);
        }
        if (matter.empty() && idle.empty()) return "nothing else could be run";
        std::string text = may_go_on() ? "no simple rule fits" : "no rule was found in time";
        if (!matter.empty())
            text += "; with one parameter changed it fails where " + joined(matter, ", where ");
        if (idle.empty()) return text;
        return text + "; " + values_.names_of(idle) +
               (idle.size() == 1 ? " alone doesn't" : " alone don't") + " matter";
    }

    const SupportedProblems& supported_;
    const ProblemValues values_;
    ProblemTrials& problems_;
    ShrinkTrials& trials_;
    CostModel cost_of_;
    WorkBudget budget_{};
    RunBudget half_{};
    double base_share_ = 0.0;
    SplitMix64 random_, random_of_tests_;
    bool tiles_were_tried_ = false;
    std::map<Values, bool> known_;
    std::vector<Observation> seen_;
    /// By class: whether it fails at a value, all others at the base.
    std::vector<std::map<std::int64_t, bool>> lines_;
};

}  // namespace

Generality generalize(const SupportedProblems& supported, const Problem& smallest,
                      ProblemTrials& problems, ShrinkTrials& trials,
                      const GeneralizeOptions& options) {
    return Generalizer(supported, smallest, problems, trials, options).generalize();
}

}  // namespace gradverify
