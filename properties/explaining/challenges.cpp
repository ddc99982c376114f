// SPDX-License-Identifier: Apache-2.0
#include "properties/explaining/challenges.hpp"

#include <algorithm>
#include <set>

namespace gradverify {

namespace {

// How far above the lower limit of a rule values are drawn.
constexpr std::int64_t length_inside = 15;
// A kernel may pass on whole tiles only. The long ones are for problems that stay cheap.
constexpr std::int64_t long_tile = 64, short_tile = 16;

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

}  // namespace

RuleChallenges::RuleChallenges(const ProblemValues& values, const std::vector<Observation>& seen,
                               const Problem& smallest)
    : values_(values),
      seen_(seen),
      random_(mix_seed(1, smallest.print())),
      random_of_tests_(mix_seed(2, smallest.print())) {}

std::optional<RuleChallenges::Values> RuleChallenges::joint(const FittedRule& rule,
                                                            std::size_t clause) {
    Values now = values_.base();
    const std::uint64_t keep = 1 + random_.below(3);
    for (int which = 0; which < values_.class_count(); ++which)
        if (!values_.class_at(which).is_fixed() && random_.below(4) >= keep)
            put(any_value(which), which, now);
    // Where other clauses hold, they would hide what this one says.
    for (std::size_t other = 0; other < rule.clauses.size(); ++other)
        if (other != clause && random_.one_in(2)) leave(rule.clauses[other], now);
    for (const Term& term : rule.clauses[clause])
        if (!random_.one_in(4)) challenge(term, now, rule.is_of_exceptions && !random_.one_in(3));
    return values_.with(values_.changed_in(now));
}

void RuleChallenges::put(std::int64_t value, int which, Values& now) const {
    const SlotClass& allowed = values_.class_at(which);
    at(now, which) = std::clamp(value, allowed.lowest, allowed.highest);
}

void RuleChallenges::leave(const std::vector<Term>& clause, Values& now) {
    const Term& term = clause[random_.below(clause.size())];
    const int of = term.parameters.front();
    if (of >= values_.class_count()) return;
    const std::int64_t beyond = random_.between(1, 3);
    put(term.kind == Term::Kind::at_least ? term.value - beyond : term.value + beyond, of, now);
}

std::int64_t RuleChallenges::any_value(int which) {
    if (random_.one_in(12)) return telling_lengths[random_.below(std::size(telling_lengths))];
    const std::int64_t from =
        random_.one_in(2) ? values_.base(which) - 1 : values_.class_at(which).smallest;
    return from + random_.between(0, random_.one_in(4) ? 11 : 4);
}

void RuleChallenges::challenge(const Term& term, Values& now, bool exactly) {
    const int a = term.parameters[random_.below(term.parameters.size())];
    // Where a term speaks of a size, it is left to chance.
    if (std::ranges::any_of(term.parameters, [&](int of) { return of >= values_.class_count(); }))
        return;
    std::int64_t edge = term.value;
    if (term.is_of_product()) {
        std::int64_t others = 1;
        for (const int other : term.parameters) {
            if (other == a) continue;
            // A prime limit shows only beside ones.
            std::int64_t& factor = at(now, other);
            if (random_.one_in(2)) factor = values_.class_at(other).smallest;
            others *= std::max<std::int64_t>(factor, 1);
        }
        edge /= others;
    } else if (term.modulus > 0) {
        edge = random_.between(0, 3) * term.modulus + term.value;
    } else if (term.has_other()) {
        const int b = term.parameters[0] == a ? term.parameters[1] : term.parameters[0];
        edge = at(now, b) * (random_.one_in(4) ? random_.between(1, 3) : 1);
    } else if (random_.one_in(3)) {
        edge = inside_gap(a, edge);
    }
    put(exactly ? edge : edge + random_.between(-1, 2), a, now);
}

std::int64_t RuleChallenges::inside_gap(int which, std::int64_t edge) {
    std::set<std::int64_t> values;
    for (const Observation& one : seen_) values.insert(at(one.values, which));
    const auto above = values.upper_bound(edge), here = values.lower_bound(edge);
    const bool up = random_.one_in(2);
    if (up && above != values.end()) return edge + (*above - edge) / 2;
    if (!up && here != values.begin()) return edge - (edge - *std::prev(here)) / 2;
    return edge;
}

std::vector<std::map<int, std::int64_t>> RuleChallenges::whole_tiles() const {
    std::map<int, std::vector<int>> classes_of;  // by parameter
    for (int which = 0; which < values_.class_count(); ++which)
        if (!values_.class_at(which).is_fixed())
            classes_of[values_.parameter_of(which)].push_back(which);
    const auto with_tile = [&](std::initializer_list<int> parameters) {
        std::set<int> classes;
        for (const int parameter : parameters)
            classes.insert(classes_of[parameter].begin(), classes_of[parameter].end());
        const bool is_short = parameters.size() > 2 || std::ranges::any_of(classes, [&](int which) {
                                  return values_.has_axis(which);
                              });
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

std::optional<RuleChallenges::Values> RuleChallenges::inside(const std::vector<Term>& clause) {
    std::map<int, Limits> limits;
    for (const Term& term : clause) {
        const int of = term.parameters.front();
        if (of >= values_.class_count() || term.parameters.size() > 1) continue;
        limits.try_emplace(of, values_.class_at(of)).first->second.narrow(term);
    }
    std::map<int, std::int64_t> wanted;
    for (const auto& [of, between] : limits)
        if (between.lowest <= between.highest)
            wanted[of] = between.lowest + random_of_tests_.between(0, between.length());
    for (int which = 0; which < values_.class_count(); ++which)
        if (!limits.contains(which) && random_of_tests_.one_in(4))
            wanted[which] = values_.base(which) + random_of_tests_.between(0, 2);
    return values_.with(wanted);
}

std::optional<RuleChallenges::Values> RuleChallenges::in_part(const Values& surprise) {
    std::map<int, std::int64_t> wanted = values_.changed_in(surprise);
    std::erase_if(wanted, [&](const auto&) { return !random_.one_in(2); });
    return values_.with(wanted);
}

std::optional<RuleChallenges::Values> RuleChallenges::near(
    const std::map<int, std::int64_t>& needed) {
    std::map<int, std::int64_t> wanted;
    for (int which = 0; which < values_.class_count(); ++which) {
        const auto of = needed.find(which);
        if (of != needed.end())
            wanted[which] = of->second / random_of_tests_.between(1, 2);
        else if (random_of_tests_.one_in(3))
            wanted[which] = values_.base(which) + random_of_tests_.between(0, 3);
    }
    return values_.with(wanted);
}

}  // namespace gradverify
