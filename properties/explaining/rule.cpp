// SPDX-License-Identifier: Apache-2.0
// One clause takes the cheapest terms that hold on all failing problems and on no passing one: one
// or two by trying all, more by taking the best each time; a clause of exceptions the other way
// round. Each of two clauses starts from a failing problem: two terms by trying all, or more by the
// highest gain (FOIL; Quinlan, Machine Learning 5, 1990).
#include "properties/explaining/rule.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

namespace gradverify {

namespace {

using ValueSpan = std::span<const std::int64_t>;
using Kind = Term::Kind;
using Clause = std::vector<Term>;

constexpr std::size_t clauses_maximum = 2;
// Values that must share a residue to make a pattern.
constexpr std::ptrdiff_t values_of_residue = 3;
// More values that are excluded one by one are a list, and no rule.
constexpr std::ptrdiff_t excluded_maximum = 2;
constexpr std::int64_t moduli[] = {2, 3, 4, 5, 8, 16, 32, 64};

using Some = std::vector<const Observation*>;

Some those(std::span<const Observation> seen, bool fails) {
    Some some;
    for (const Observation& one : seen)
        if (one.fails == fails) some.push_back(&one);
    return some;
}

template <class Condition>
std::size_t count_in(const Some& some, const Condition& condition) {
    return static_cast<std::size_t>(std::ranges::count_if(
        some, [&](const Observation* one) { return condition.holds(one->values); }));
}
std::size_t count_in(const Some& some, const Clause& clause) {
    return count_in(some, FittedRule{{clause}});
}

template <class Condition>
bool holds_on_all(const Some& some, const Condition& condition) {
    return std::ranges::all_of(
        some, [&](const Observation* one) { return condition.holds(one->values); });
}

void keep_where(const Term& term, Some& some) {
    std::erase_if(some, [&](const Observation* one) { return !term.holds(one->values); });
}

std::set<std::int64_t> values_of(const Some& some, int parameter) {
    std::set<std::int64_t> values;
    for (const Observation* one : some) values.insert(at(one->values, parameter));
    return values;
}

/// Terms that could separate the failing from the passing.
class Candidates {
  public:
    Candidates(const Some& failing, const Some& passing, ValueTexts texts)
        : failing_(failing),
          passing_(passing),
          texts_(texts),
          parameters_(static_cast<int>(failing.front()->values.size())) {
        for (int a = 0; a < parameters_; ++a) {
            failing_values_.push_back(values_of(failing, a));
            passing_values_.push_back(values_of(passing, a));
        }
    }

    /// Terms that hold on every failing one, with thresholds as near to these as can be.
    Clause necessary() {
        for (int a = 0; a < parameters_; ++a) {
            const auto &failing = at(failing_values_, a), &passing = at(passing_values_, a);
            add(Kind::equal, {a}, *failing.begin());
            for (const std::int64_t value : passing) add(Kind::unequal, {a}, value);
            if (!is_number(texts_, a)) continue;
            numbers_.push_back(a);
            add(Kind::at_least, {a}, *failing.begin());
            add(Kind::at_most, {a}, *failing.rbegin());
            add_residues(a, failing, passing);
        }
        add_relations();
        add_products();
        std::erase_if(terms_, [&](const Term& term) {
            return !holds_on_all(failing_, term) || holds_on_all(passing_, term);
        });
        return std::move(terms_);
    }

    /// Limits of one parameter that hold on this one. Relations are left out: where a clause need
    /// not hold on all failing ones, one always fits by chance.
    Clause limits_of(const Observation& seed) {
        for (int a = 0; a < parameters_; ++a) {
            std::set<std::int64_t> values = at(failing_values_, a);
            values.merge(std::set(at(passing_values_, a)));
            if (!is_number(texts_, a)) values.clear();
            for (const std::int64_t value : values)
                for (const Kind kind : {Kind::at_least, Kind::at_most}) add(kind, {a}, value);
            add(Kind::equal, {a}, at(seed.values, a));
        }
        std::erase_if(terms_, [&](const Term& term) {
            return !term.holds(seed.values) || holds_on_all(passing_, term);
        });
        return std::move(terms_);
    }

  private:
    void add(Kind kind, std::vector<int> parameters, std::int64_t value = 0,
             std::int64_t modulus = 0) {
        terms_.push_back({kind, std::move(parameters), value, modulus});
    }

    void add_residues(int a, const std::set<std::int64_t>& failing,
                      const std::set<std::int64_t>& passing) {
        for (const std::int64_t modulus : moduli)
            for (std::int64_t residue = 0; residue < modulus; ++residue) {
                const auto have_it = [&](const std::set<std::int64_t>& values) {
                    return std::ranges::count(values, residue, [&](std::int64_t value) {
                               return value % modulus;
                           }) >= values_of_residue;
                };
                if (have_it(failing)) add(Kind::residue, {a}, residue, modulus);
                // With two residues, the other one is named instead.
                if (modulus > 2 && have_it(passing))
                    add(Kind::other_residue, {a}, residue, modulus);
            }
    }

    void add_relations() {
        for (const int a : numbers_)
            for (const int b : numbers_) {
                if (a == b) continue;
                for (const Kind kind :
                     {Kind::less, Kind::no_more, Kind::multiple, Kind::no_multiple})
                    add(kind, {a, b});
                if (a < b) add(Kind::same, {a, b});
                if (a < b) add(Kind::different, {a, b});
            }
    }

    void add_product(std::vector<int> factors) {
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (const Observation* one : failing_)
            least = std::min(least, product_of(one->values, factors));
        if (least < std::numeric_limits<std::int64_t>::max())
            add(Kind::at_least, std::move(factors), least);
    }

    void add_products() {
        for (const int a : numbers_)
            for (const int b : numbers_) {
                if (a >= b) continue;
                add_product({a, b});
                for (const int c : numbers_)
                    if (b < c) add_product({a, b, c});
            }
    }

    const Some &failing_, &passing_;
    ValueTexts texts_;
    int parameters_;
    std::vector<int> numbers_;
    std::vector<std::set<std::int64_t>> failing_values_, passing_values_;
    Clause terms_;
};

/// Counts the observations on which two terms hold, given by their positions.
class BothHold {
  public:
    BothHold(const Clause& terms, const Some& some) {
        for (const Term& term : terms) {
            auto& bits = holds_.emplace_back(some.size() / 64 + 1);
            for (std::size_t i = 0; i < some.size(); ++i)
                bits[i / 64] |= std::uint64_t{term.holds(some[i]->values)} << i % 64;
        }
    }
    int count(std::size_t first, std::size_t second) const {
        const auto &a = holds_[first], &b = holds_[second];
        int both = 0;
        for (std::size_t i = 0; i < a.size(); ++i) both += std::popcount(a[i] & b[i]);
        return both;
    }

  private:
    std::vector<std::vector<std::uint64_t>> holds_;  ///< by term, a bit for each observation
};

/// The one or two terms that hold on no passing problem and are worth most: the number of
/// `worthwhile` ones on which they hold, less their cost.
std::optional<Clause> best_two(const Clause& terms, const Some& worthwhile, const Some& passing) {
    const BothHold on_worthwhile(terms, worthwhile), on_passing(terms, passing);
    double most = -HUGE_VAL;
    std::optional<Clause> best;
    for (std::size_t i = 0; i < terms.size(); ++i)
        for (std::size_t j = i; j < terms.size(); ++j) {
            const double cost = terms[i].cost() + (i == j ? 0.0 : terms[j].cost());
            const double worth = on_worthwhile.count(i, j) - cost;
            if (worth <= most || on_passing.count(i, j) > 0) continue;
            most = worth;
            best = i == j ? Clause{terms[i]} : Clause{terms[i], terms[j]};
        }
    return best;
}

Clause in_order(Clause clause) {
    std::ranges::stable_sort(clause, {}, &Term::parameters);
    return clause;
}

/// The clause without terms, the dearest first, that exclude nothing beyond the others.
Clause without_idle(Clause clause, const Some& passing) {
    std::ranges::stable_sort(clause, std::greater<>(), &Term::cost);
    for (std::size_t i = 0; i < clause.size();) {
        Clause fewer = clause;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        if (count_in(passing, fewer) == 0)
            clause = std::move(fewer);
        else
            ++i;
    }
    return clause;
}

enum class Worth { for_its_cost, alone };

/// Takes the term that excludes most, for its cost or alone, until none passes.
std::optional<Clause> greedily(const Clause& terms, const Some& all_passing,
                               std::size_t terms_maximum, Worth kind) {
    Some passing = all_passing;
    Clause taken;
    while (!passing.empty() && taken.size() < terms_maximum) {
        const auto worth = [&](const Term& term) {
            const auto left_out = static_cast<double>(passing.size() - count_in(passing, term));
            return left_out / (kind == Worth::for_its_cost ? term.cost() : 1.0);
        };
        const auto best = std::ranges::max_element(terms, {}, worth);
        if (best == terms.end() || worth(*best) <= 0.0) return std::nullopt;
        taken.push_back(*best);
        keep_where(*best, passing);
    }
    if (!passing.empty()) return std::nullopt;
    return in_order(without_idle(std::move(taken), all_passing));
}

std::optional<FittedRule> one_clause(const Some& failing, const Some& passing,
                                     const FitOptions& options) {
    const std::size_t terms_maximum = options.terms_maximum;
    const Clause terms = Candidates(failing, passing, options.texts).necessary();
    // All of them hold on all failing ones, so the cheapest are worth most.
    auto clause = best_two(terms, {}, passing);
    if (clause && clause->size() > terms_maximum) clause.reset();
    if (!clause) clause = greedily(terms, passing, terms_maximum, Worth::for_its_cost);
    // Cheap limits may use up the terms where a few residues would do.
    if (!clause) clause = greedily(terms, passing, terms_maximum, Worth::alone);
    if (!clause || std::ranges::count(*clause, Kind::unequal, &Term::kind) > excluded_maximum)
        return std::nullopt;
    return FittedRule{{*std::move(clause)}};
}

/// One or two terms that hold on the first failing one, on no passing one, and on most others.
std::optional<Clause> widest(const Some& failing, const Some& passing, const FitOptions& options) {
    const Clause terms = Candidates(failing, passing, options.texts).limits_of(*failing.front());
    auto clause = best_two(terms, failing, passing);
    if (clause && count_in(failing, *clause) < options.failing_minimum) clause.reset();
    return clause;
}

/// The same with more terms, one at a time.
std::optional<Clause> grow(Some failing, Some passing, const FitOptions& options) {
    Clause clause;
    const Observation& seed = *failing.front();
    const auto bits = [](std::size_t fails, std::size_t passes) {
        return std::log2(static_cast<double>(fails) / static_cast<double>(fails + passes));
    };
    while (!passing.empty()) {
        if (clause.size() + 1 == options.terms_maximum) return std::nullopt;
        const Clause terms = Candidates(failing, passing, options.texts).limits_of(seed);
        if (terms.empty()) return std::nullopt;
        const double before = bits(failing.size(), passing.size());
        const auto best = std::ranges::max_element(terms, {}, [&](const Term& term) {
            const std::size_t fails = count_in(failing, term), passes = count_in(passing, term);
            return static_cast<double>(fails) * (bits(fails, passes) - before) / term.cost();
        });
        keep_where(*best, failing);
        keep_where(*best, passing);
        clause.push_back(*best);
    }
    if (failing.size() < options.failing_minimum) return std::nullopt;
    return in_order(std::move(clause));
}

std::optional<Clause> some_clause(const Some& failing, const Some& passing,
                                  const FitOptions& options) {
    if (auto clause = widest(failing, passing, options)) return clause;
    return grow(failing, passing, options);
}

std::optional<FittedRule> two_clauses(Some failing, const Some& passing,
                                      const FitOptions& options) {
    FittedRule rule;
    while (!failing.empty()) {
        if (rule.clauses.size() == clauses_maximum) return std::nullopt;
        auto clause = some_clause(failing, passing, options);
        if (!clause) return std::nullopt;
        rule.clauses.push_back(*std::move(clause));
        std::erase_if(failing, [&](const Observation* one) { return rule.holds(one->values); });
    }
    return rule;
}

}  // namespace

bool FittedRule::holds(ValueSpan values) const {
    return std::ranges::any_of(clauses, [&](const Clause& clause) {
        return std::ranges::all_of(clause, [&](const Term& term) { return term.holds(values); });
    });
}

std::string FittedRule::print(std::span<const std::string> names, ValueTexts texts) const {
    std::string text;
    for (const Clause& clause : clauses) {
        if (!text.empty()) text += ", or wherever ";
        for (std::size_t i = 0; i < clause.size(); ++i)
            text += (i == 0 ? "" : " and ") + clause[i].print(names, texts);
    }
    return text;
}

std::optional<FittedRule> fit_rule(std::span<const Observation> seen, const FitOptions& options) {
    const Some failing = those(seen, true), passing = those(seen, false);
    if (failing.size() < options.failing_minimum) return std::nullopt;
    if (passing.empty()) return FittedRule{{{}}};
    if (auto rule = one_clause(failing, passing, options)) return rule;
    if (options.terms_maximum < 2) return std::nullopt;
    if (auto rule = two_clauses(failing, passing, options)) return rule;
    if (passing.size() >= options.failing_minimum)
        if (auto rule = one_clause(passing, failing, options)) {
            rule->is_of_exceptions = true;
            return rule;
        }
    return std::nullopt;
}

}  // namespace gradverify
