// SPDX-License-Identifier: Apache-2.0
// Decides which problems could break a rule: at its limits, between them and beyond, and of whole
// tiles, which chance hardly ever draws.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "harness/base/random.hpp"
#include "properties/explaining/problem_values.hpp"
#include "properties/explaining/rule.hpp"

namespace gradverify {

class RuleChallenges {
  public:
    using Values = ProblemValues::Row;

    /// `seen`: the problems that were run, a list that grows. The smallest failing one seeds draws.
    RuleChallenges(const ProblemValues& values, const std::vector<Observation>& seen,
                   const Problem& smallest);

    // Each gives the classes' values of a problem, or nothing where no problem has them.

    /// Many parameters changed: those of a clause to around its limits, the others at random.
    std::optional<Values> joint(const FittedRule& rule, std::size_t clause);
    /// Anywhere between the limits of the clause.
    std::optional<Values> inside(const std::vector<Term>& clause);
    /// Some of these values and some of the base's.
    std::optional<Values> in_part(const Values& surprise);
    /// These values or their halves, and a few others changed.
    std::optional<Values> near(const std::map<int, std::int64_t>& needed);

    /// The changed values for all pairs of parameters, and all triples without axes (channels).
    std::vector<std::map<int, std::int64_t>> whole_tiles() const;

  private:
    /// Gives a class the value, or the nearest in its range.
    void put(std::int64_t value, int which, Values& now) const;
    /// Moves a value beyond one of the limits.
    void leave(const std::vector<Term>& clause, Values& now);
    /// Moves a value to the edge of the term, exactly or nearly.
    void challenge(const Term& term, Values& now, bool exactly);
    /// Mostly small or near the failing one.
    std::int64_t any_value(int which);
    /// Between this value and the next one that was run, to close in on a limit.
    std::int64_t inside_gap(int which, std::int64_t edge);

    const ProblemValues& values_;
    const std::vector<Observation>& seen_;
    SplitMix64 random_, random_of_tests_;
};

}  // namespace gradverify
