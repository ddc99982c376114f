// SPDX-License-Identifier: Apache-2.0
// What reports of seeded bugs say is tried on further problems and data: rules, certificates and
// values.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <sstream>

#include "harness/base/random.hpp"
#include "harness/base/text.hpp"
#include "properties/data/dense.hpp"
#include "properties/explaining/problem_values.hpp"
#include "properties/problems/enumerate.hpp"
#include "properties/suite/kernel_suite.hpp"
#include "properties/tests/seeded_bugs/hunt.hpp"

namespace gradverify {

namespace {

constexpr int tries = 50;

/// A sentence and what was seen that contradicts it.
using Found = std::vector<std::string>;

std::vector<std::string> parts_of(const std::string& text, const std::string& separator) {
    std::vector<std::string> parts;
    std::size_t from = 0;
    for (std::size_t at; (at = text.find(separator, from)) != std::string::npos;
         from = at + separator.size())
        parts.push_back(text.substr(from, at - from));
    parts.push_back(text.substr(from));
    return parts;
}

/// A printed term, on numbers that have names; nothing where it is not read.
std::optional<bool> holds(const std::string& term, const std::map<std::string, std::int64_t>& of) {
    const auto number = [&](const std::string& word) -> std::int64_t {
        const auto named = of.find(word);
        return named != of.end() ? named->second : std::stoll(word);
    };
    std::istringstream words(term);
    std::string word, relation, other;
    words >> word;
    std::int64_t value = number(word);
    while (words >> relation && relation == "*" && words >> word) value *= number(word);
    words >> other;
    if (relation == "mod") {
        value %= number(other);
        words >> relation >> other;
    }
    if (relation == "is" && other == "even") return value % 2 == 0;
    if (relation == "is" && other == "odd") return value % 2 == 1;
    if (relation == "is") {
        words >> word >> word >> word;  // `multiple of b`
        const std::int64_t by = number(word);
        return (by != 0 && value % by == 0) == (other == "a");
    }
    const std::int64_t limit = number(other);
    if (relation == ">=") return value >= limit;
    if (relation == "<=") return value <= limit;
    if (relation == "=") return value == limit;
    if (relation == "!=") return value != limit;
    if (relation == "<") return value < limit;
    return std::nullopt;
}

/// What the rule says of a problem.
std::optional<bool> rule_says(const std::string& text, const ProblemValues& values,
                              const Problem& problem) try {
    const Assignment assigned(values.domain(), problem);
    ProblemValues::Row row;
    for (int which = 0; which < values.class_count(); ++which) row.push_back(assigned[which]);
    row = values.with_sizes(row);
    std::map<std::string, std::int64_t> named;
    for (std::size_t i = 0; i < row.size(); ++i) named[values.names()[i]] = row[i];
    std::string rule = text.substr(0, text.find(';'));
    for (const char* const end : {", and in another way", ", unless zeros alone"})
        rule = rule.substr(0, rule.find(end));
    if (rule.ends_with("everywhere")) return true;
    const bool is_of_exceptions = rule.find("everywhere but where ") != std::string::npos;
    const std::string begin = is_of_exceptions ? "everywhere but where " : "wherever ";
    for (const std::string& clause :
         parts_of(rule.substr(rule.find(begin) + begin.size()), ", or wherever ")) {
        bool all = true;
        for (const std::string& term : parts_of(clause, " and ")) {
            const auto one = holds(term, named);
            if (!one) return std::nullopt;
            all &= *one;
        }
        if (all) return !is_of_exceptions;
    }
    return is_of_exceptions;
} catch (const std::invalid_argument&) {
    return std::nullopt;  // an attribute's text
}

struct Told {
    const KernelSuite& suite;
    WorkerPool& pool;
    Row row;
    Shrunk shrunk;

    Verdict verdict_of(const Case& one) const {
        const Outcome outcome = pool.run(one);
        const bool is_another =
            outcome.verdict == Verdict::failed && !fails_likewise(shrunk.outcome, outcome);
        return is_another ? Verdict::errored : outcome.verdict;
    }
    /// The verdicts of the dense draws, and of some with other data in the failure's setting.
    std::map<Verdict, int> verdicts_at(const Problem& problem, bool with_more) const {
        std::map<Verdict, int> counts;
        auto cases = dense_cases(*row.kernel, row.property_name(), row.device, problem);
        for (int draw = 0; with_more && draw < 6; ++draw) {
            Case more = shrunk.smallest;
            more.problem = problem;
            more.data = {.seed = 1000u + static_cast<std::uint64_t>(draw),
                         .is_dense = draw % 2 == 0};
            cases.push_back(more);
        }
        for (const Case& one : cases) ++counts[verdict_of(one)];
        return counts;
    }
};

/// The number of problems that the rule speaks of, as far as they were run.
int try_rule(const Told& told, Found& contradictions) {
    const Generality& general = told.shrunk.generality;
    const Problem& smallest = told.shrunk.smallest.problem;
    if (!general.is_rule || told.shrunk.smallest.setting.before) return 0;
    int tried = 0;
    const SupportedProblems supported(*told.row.kernel->op, *told.row.kernel->pass,
                                      told.row.kernel->any());
    const ProblemValues values(supported, smallest);
    const bool data_decide = general.text.find("data decide") != std::string::npos;
    for (int i = 0; i < tries; ++i) {
        const auto draw = told.suite.draw(told.row, 99, i);
        if (!draw.drawn || draw.drawn->problem.rank() != smallest.rank()) continue;
        const Problem& problem = draw.drawn->problem;
        const auto says = rule_says(general.text, values, problem);
        if (!says) continue;
        ++tried;
        auto counts = told.verdicts_at(problem, !*says);
        const bool fails = counts[Verdict::failed] > 0;
        // Where nothing was compared, or it ended otherwise, nothing is said.
        if (fails == *says || counts[Verdict::errored] > 0 || (!fails && !counts[Verdict::passed]))
            continue;
        if (*says && data_decide) continue;
        contradictions.push_back(fmt::format("{} {}: {} at {}", told.row.kernel->name, general.text,
                                             fails ? "fails" : "passes", problem.print()));
    }
    return tried;
}

void try_certificate(const Told& told, Found& contradictions) {
    if (!told.shrunk.minimal()) return;
    const SupportedProblems supported(*told.row.kernel->op, *told.row.kernel->pass,
                                      told.row.kernel->any());
    const Problem& smallest = told.shrunk.smallest.problem;
    ProblemEnumerator all(supported, {.distance = smallest.distance()});
    std::vector<Problem> smaller;
    for (auto next = all.next(); next && *next < smallest; next = all.next())
        smaller.push_back(*next);
    SplitMix64 random(1);
    while (smaller.size() > tries) {
        smaller[random.below(smaller.size())] = smaller.back();
        smaller.pop_back();
    }
    for (const Problem& problem : smaller)
        if (told.verdicts_at(problem, true)[Verdict::failed] > 0)
            contradictions.push_back(fmt::format("{} is not minimal at {}: it fails at {}",
                                                 told.row.kernel->name, smallest.print(),
                                                 problem.print()));
}

/// `fails where x[0] >= 14, and passes at 13.9`, `is not 0`, `< 0`: tried on the sides of the
/// limit.
void try_values(const Told& told, Found& contradictions) {
    std::istringstream words(told.shrunk.values);
    std::string skipped, element, relation, word;
    words >> skipped >> skipped >> element >> relation >> word;
    if (relation.empty() || (relation == "is" && word != "not")) return;
    if (relation == "is") words >> word;
    const double limit = std::stod(word);
    const bool has_more_passes = told.shrunk.values.find(" and at ") != std::string::npos;
    SplitMix64 random(7);
    for (int i = 0; i < tries; ++i) {
        const double share = static_cast<double>(1 + random.below(1000)) / 1000.0;
        double value = limit * (1.0 + (has_more_passes ? 0.0 : share));
        if (relation == "is") value = (i % 2 == 0 ? 3.0 : -3.0) * share;
        if (relation == "<" || relation == ">") value = (relation == "<" ? -3.0 : 3.0) * share;
        Case one = told.shrunk.smallest;
        for (DataElement& of : one.data.elements)
            if (fmt::format("{}[{}]", of.tensor, of.index) == element) of.value = value;
        if (told.verdict_of(one) == Verdict::passed)
            contradictions.push_back(fmt::format("{} {}: passes at {}", told.row.kernel->name,
                                                 told.shrunk.values, value));
    }
}

/// Explains each bug, every `step`th from `first` on, and tries what is said.
void try_sentences(std::size_t first, std::size_t step, std::size_t most) {
    const KernelSuite suite(Registry::instance());
    const std::vector<SeededBug> bugs = every_seeded_bug();
    std::size_t explained = 0, rules = 0;
    int tried = 0;
    for (std::size_t i = first; i < bugs.size() && explained < most; i += step) {
        const auto row = row_of(bugs[i], "cpu");
        if (!row || !bugs[i].certified) continue;
        WorkerPool pool(one_suite_worker());
        const auto failure = first_failure(suite, *row, 5, pool, 1000);
        REQUIRE(failure);
        const CaseRunner runner = [&](const Case& candidate) { return pool.run(candidate); };
        Told told{suite, pool, *row, suite.shrink(failure->found, failure->outcome, runner)};
        suite.explain(told.shrunk, runner);
        ++explained;
        rules += told.shrunk.generality.is_rule;
        Found contradictions;
        const int of_rule = try_rule(told, contradictions);
        if (tried == 0 && of_rule > 0) {
            Told false_rule = told;
            false_rule.shrunk.generality.text = "everywhere but where 1 = 1";
            Found found;
            try_rule(false_rule, found);
            CHECK_FALSE(found.empty());
        }
        tried += of_rule;
        try_certificate(told, contradictions);
        try_values(told, contradictions);
        for (const std::string& one : contradictions) FAIL_CHECK(one);
        MESSAGE(row->kernel->name, ": ", told.shrunk.generality.text, "; ",
                told.shrunk.minimality.passed, " smaller; ", told.shrunk.values, "; ",
                told.shrunk.symptoms.outputs, "; ", told.shrunk.symptoms.pattern, "; ",
                told.shrunk.symptoms.only);
    }
    CHECK(explained > 2);
    CHECK(rules > explained / 2);
    CHECK(tried > 10 * static_cast<int>(rules));
}

}  // namespace

TEST_CASE("what is said of some seeded bugs holds on problems and data that nobody has run") {
    try_sentences(3, 31, 6);
}

TEST_CASE("what is said of many seeded bugs holds on problems and data that nobody has run" *
          doctest::skip()) {
    try_sentences(1, 5, 40);
}

}  // namespace gradverify
