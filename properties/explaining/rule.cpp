// SPDX-License-Identifier: Apache-2.0
// One clause: of the terms that hold wherever it fails, those that leave out all that passes. Two
// clauses: each of limits that hold on one failing problem. Clauses of one or two terms are found
// by trying all, longer ones by the term of the highest gain each time (FOIL; Quinlan, Machine
// Learning 5, 1990).
#include "properties/explaining/rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "harness/base/text.hpp"

namespace gradverify {

namespace {

using Values = std::span<const std::int64_t>;
using Kind = Term::Kind;

constexpr std::size_t clauses_maximum = 2, terms_maximum = 3;
// A residue that fewer different values share is no pattern.
constexpr std::ptrdiff_t values_of_residue = 3;
constexpr std::int64_t moduli[] = {2, 3, 4, 5, 8, 16, 32, 64};
// A rule that is not complete must still hold on this share of what fails.
constexpr double share_minimum = 0.25;

/// Observations by reference, those that fail or those that pass.
using Some = std::vector<const Observation*>;

Some those(std::span<const Observation> seen, bool fails) {
    Some some;
    for (const Observation& one : seen)
        if (one.fails == fails) some.push_back(&one);
    return some;
}

/// By observation, whether the term holds.
using Marks = std::vector<char>;

Marks marks_of(const Term& term, const Some& some) {
    Marks marks;
    for (const Observation* one : some) marks.push_back(term.holds(one->values));
    return marks;
}

bool never_both(const Marks& a, const Marks& b) {
    return std::ranges::mismatch(a, b, [](char x, char y) { return !(x && y); }).in1 == a.end();
}

std::size_t count_in(const Some& some, const Term& term) {
    return static_cast<std::size_t>(std::ranges::count_if(
        some, [&](const Observation* one) { return term.holds(one->values); }));
}

std::set<std::int64_t> values_of(const Some& some, int parameter) {
    std::set<std::int64_t> values;
    for (const Observation* one : some)
        values.insert(one->values[static_cast<std::size_t>(parameter)]);
    return values;
}

double product_of(Values values, const std::vector<int>& parameters) {
    double product = 1.0;
    for (const int parameter : parameters)
        product *= static_cast<double>(values[static_cast<std::size_t>(parameter)]);
    return product;
}

bool is_number(ValueTexts texts, int parameter) {
    const auto at = static_cast<std::size_t>(parameter);
    return at >= texts.size() || texts[at].empty();
}

void add_residues(int a, const std::set<std::int64_t>& failing,
                  const std::set<std::int64_t>& passing, std::vector<Term>& terms) {
    for (const std::int64_t modulus : moduli)
        for (std::int64_t residue = 0; residue < modulus; ++residue) {
            const auto is_common = [&](const std::set<std::int64_t>& values) {
                return std::ranges::count_if(values, [&](std::int64_t value) {
                           return value % modulus == residue;
                       }) >= values_of_residue;
            };
            if (is_common(failing)) terms.push_back({Kind::equal, {a}, residue, -1, modulus});
            // With two residues the other one is said instead.
            if (modulus > 2 && is_common(passing))
                terms.push_back({Kind::unequal, {a}, residue, -1, modulus});
        }
}

/// Terms that hold on every failing one, with limits as near to them as can be.
std::vector<Term> necessary_terms(const Some& failing, const Some& passing, ValueTexts texts) {
    std::vector<Term> terms;
    std::vector<int> numbers;
    std::vector<std::vector<int>> products;
    for (int a = 0; a < std::ssize(failing.front()->values); ++a) {
        const std::set<std::int64_t> failing_at = values_of(failing, a),
                                     passing_at = values_of(passing, a);
        terms.push_back({Kind::equal, {a}, *failing_at.begin()});
        for (const std::int64_t value : passing_at) terms.push_back({Kind::unequal, {a}, value});
        if (!is_number(texts, a)) continue;
        terms.push_back({Kind::at_least, {a}, *failing_at.begin()});
        terms.push_back({Kind::at_most, {a}, *failing_at.rbegin()});
        add_residues(a, failing_at, passing_at, terms);
        for (const int b : numbers) {
            for (const Kind kind : {Kind::equal, Kind::unequal}) terms.push_back({kind, {b}, 0, a});
            for (const Kind kind : {Kind::less, Kind::at_most, Kind::multiple, Kind::no_multiple}) {
                terms.push_back({kind, {a}, 0, b});
                terms.push_back({kind, {b}, 0, a});
            }
            products.push_back({b, a});
            for (const int c : numbers)
                if (c < b) products.push_back({c, b, a});
        }
        numbers.push_back(a);
    }
    for (std::vector<int>& product : products) {
        double least = HUGE_VAL;
        for (const Observation* one : failing)
            least = std::min(least, product_of(one->values, product));
        if (least < 0x1p62)
            terms.push_back({Kind::at_least, std::move(product), static_cast<std::int64_t>(least)});
    }
    std::erase_if(terms, [&](const Term& term) {
        return count_in(failing, term) < failing.size() ||
               count_in(passing, term) == passing.size();
    });
    return terms;
}

/// Limits of one parameter that hold on the first failing one. Where a clause need not hold on all
/// that fail, a relation that does so by chance is always found.
std::vector<Term> limits_of_first(const Some& failing, const Some& passing, ValueTexts texts) {
    std::vector<Term> terms;
    const Observation& first = *failing.front();
    for (int a = 0; a < std::ssize(first.values); ++a) {
        std::set<std::int64_t> values = values_of(failing, a);
        values.merge(values_of(passing, a));
        if (!is_number(texts, a)) values.clear();
        for (const std::int64_t value : values) {
            terms.push_back({Kind::at_least, {a}, value});
            terms.push_back({Kind::at_most, {a}, value});
        }
        terms.push_back({Kind::equal, {a}, first.values[static_cast<std::size_t>(a)]});
    }
    std::erase_if(terms, [&](const Term& term) {
        return !term.holds(first.values) || count_in(passing, term) == passing.size();
    });
    return terms;
}

/// The one or two terms that hold on no passing one, and on the most failing ones for their cost.
std::optional<Clause> best_two(const std::vector<Term>& terms, const Some& failing,
                               const Some& passing) {
    std::vector<Marks> on_failing, on_passing;
    for (const Term& term : terms) {
        on_failing.push_back(marks_of(term, failing));
        on_passing.push_back(marks_of(term, passing));
    }
    double most = -HUGE_VAL;
    std::optional<Clause> best;
    for (std::size_t i = 0; i < terms.size(); ++i)
        for (std::size_t j = i; j < terms.size(); ++j) {
            const double cost = terms[i].cost() + (i == j ? 0.0 : terms[j].cost());
            if (static_cast<double>(failing.size()) - cost <= most ||
                !never_both(on_passing[i], on_passing[j]))
                continue;
            const int held = std::inner_product(on_failing[i].begin(), on_failing[i].end(),
                                                on_failing[j].begin(), 0);
            const double worth = held - cost;
            if (worth <= most) continue;
            most = worth;
            best = i == j ? Clause{terms[i]} : Clause{terms[i], terms[j]};
        }
    return best;
}

/// Takes the term that gains most for its cost, until none passes.
std::optional<Clause> greedily(const std::vector<Term>& terms, Some failing, Some passing) {
    Clause clause;
    const auto bits = [](std::size_t fails, std::size_t passes) {
        return std::log2(static_cast<double>(fails) / static_cast<double>(fails + passes));
    };
    while (!passing.empty()) {
        if (clause.size() == terms_maximum || terms.empty()) return std::nullopt;
        const double before = bits(failing.size(), passing.size());
        const auto best = std::ranges::max_element(terms, {}, [&](const Term& term) {
            const std::size_t fails = count_in(failing, term), passes = count_in(passing, term);
            return static_cast<double>(fails) * (bits(fails, passes) - before) / term.cost();
        });
        const auto is_outside = [&](const Observation* one) { return !best->holds(one->values); };
        std::erase_if(failing, is_outside);
        std::erase_if(passing, is_outside);
        clause.push_back(*best);
    }
    std::ranges::stable_sort(clause, {}, &Term::left);
    return clause;
}

std::optional<Clause> best_clause(const std::vector<Term>& terms, const Some& failing,
                                  const Some& passing) {
    if (auto clause = best_two(terms, failing, passing)) return clause;
    return greedily(terms, failing, passing);
}

std::size_t count_held(const Some& some, const FittedRule& rule) {
    return static_cast<std::size_t>(std::ranges::count_if(
        some, [&](const Observation* one) { return rule.holds(one->values); }));
}

}  // namespace

std::string text_of(std::int64_t value, ValueTexts texts, int parameter) {
    if (is_number(texts, parameter)) return std::to_string(value);
    return texts[static_cast<std::size_t>(parameter)].at(static_cast<std::size_t>(value));
}

bool Term::holds(Values values) const {
    double a = product_of(values, left);
    if (modulus > 0) a = std::fmod(a, static_cast<double>(modulus));
    const auto b = static_cast<double>(right < 0 ? value : values[static_cast<std::size_t>(right)]);
    const auto is_multiple = [&] { return b == 0.0 ? a == 0.0 : std::fmod(a, b) == 0.0; };
    switch (kind) {
        case Kind::at_least:
            return a >= b;
        case Kind::at_most:
            return a <= b;
        case Kind::less:
            return a < b;
        case Kind::equal:
            return a == b;
        case Kind::unequal:
            return a != b;
        case Kind::multiple:
            return is_multiple();
        case Kind::no_multiple:
            return !is_multiple();
    }
    return false;
}

std::string Term::print(std::span<const std::string> names, ValueTexts texts) const {
    std::vector<std::string> factors;
    for (const int parameter : left) factors.push_back(names[static_cast<std::size_t>(parameter)]);
    const std::string a = joined(factors, " * ");
    const bool is_equal = kind == Kind::equal;
    if (modulus == 2) return a + ((value == 0) == is_equal ? " is even" : " is odd");
    if (modulus > 0 && value == 0)
        return fmt::format("{} is {} multiple of {}", a, is_equal ? "a" : "no", modulus);
    constexpr const char* kinds[] = {
        ">=", "<=", "<", "=", "!=", "is a multiple of", "is no multiple of"};
    return fmt::format(
        "{}{} {} {}", a, modulus > 0 ? fmt::format(" mod {}", modulus) : "",
        kinds[static_cast<std::size_t>(kind)],
        right < 0 ? text_of(value, texts, left.front()) : names[static_cast<std::size_t>(right)]);
}

double Term::cost() const {
    if (left.size() > 1) return 1.5 + 0.3 * static_cast<double>(left.size());
    if (right >= 0) return kind >= Kind::multiple ? 1.9 : 1.7;
    if (modulus > 0)
        return 1.5 + (kind == Kind::unequal ? 0.1 : 0.0) + (modulus > 2 && value > 0 ? 0.1 : 0.0);
    constexpr double kinds[] = {1.0, 1.1, 1.1, 1.05, 1.2, 1.9, 1.9};
    return kinds[static_cast<std::size_t>(kind)];
}

bool FittedRule::holds(Values values) const {
    return std::ranges::any_of(clauses, [&](const Clause& clause) {
        return std::ranges::all_of(clause, [&](const Term& term) { return term.holds(values); });
    });
}

std::string FittedRule::print(std::span<const std::string> names, ValueTexts texts) const {
    std::vector<std::string> printed;
    for (const Clause& clause : clauses) {
        std::vector<std::string> terms;
        for (const Term& term : clause) terms.push_back(term.print(names, texts));
        printed.push_back(joined(terms, " and "));
    }
    return joined(printed, ", or wherever ");
}

std::optional<FittedRule> fit_rule(std::span<const Observation> seen, ValueTexts texts,
                                   std::size_t failing_minimum) {
    const Some failing = those(seen, true), passing = those(seen, false);
    if (failing.size() < failing_minimum) return std::nullopt;
    if (passing.empty()) return FittedRule{{{}}};
    const std::vector<Term> necessary = necessary_terms(failing, passing, texts);
    if (auto clause = best_clause(necessary, failing, passing)) return FittedRule{{*clause}};
    FittedRule rule;
    for (Some left = failing; !left.empty() && rule.clauses.size() < clauses_maximum;) {
        auto clause = best_clause(limits_of_first(left, passing, texts), left, passing);
        if (!clause || count_held(left, FittedRule{{*clause}}) < failing_minimum) break;
        rule.clauses.push_back(*std::move(clause));
        std::erase_if(left, [&](const Observation* one) { return rule.holds(one->values); });
    }
    if (rule.clauses.empty()) return std::nullopt;
    if (count_held(failing, rule) == failing.size()) return rule;
    rule = {.clauses = {rule.clauses.front()}, .is_complete = false};
    // Single values of each parameter are only the neighbourhood of the first failing problem.
    const bool is_one_problem = std::ranges::all_of(
        rule.clauses[0], [](const Term& term) { return term.kind == Kind::equal; });
    const auto enough = share_minimum * static_cast<double>(failing.size());
    if (is_one_problem || static_cast<double>(count_held(failing, rule)) < enough)
        return std::nullopt;
    return rule;
}

}  // namespace gradverify
