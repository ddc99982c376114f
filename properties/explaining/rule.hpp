// SPDX-License-Identifier: Apache-2.0
// Decides which rule fits the problems that were run: the conditions on parameters under which a
// kernel fails. A rule agrees with every problem that it was made from, or there is none. Knows
// parameters by their position only, and runs nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "properties/explaining/term.hpp"

namespace gradverify {

/// A problem that was run: a value for each parameter, and whether it fails.
struct Observation {
    std::vector<std::int64_t> values;
    bool fails = false;
};

/// It fails wherever all terms of a clause hold; or, where the clause is of exceptions, everywhere
/// else.
struct FittedRule {
    std::vector<std::vector<Term>> clauses;
    bool is_complete = true;  ///< and nowhere else
    bool is_of_exceptions = false;

    bool agrees_with(const Observation& one) const {
        if (is_of_exceptions) return holds(one.values) != one.fails;
        return holds(one.values) ? one.fails : !(is_complete && one.fails);
    }
    /// All terms of a clause.
    bool holds(std::span<const std::int64_t> values) const;
    /// The clauses: `k >= 2 and in_w is even, or wherever n >= 3`; empty when it fails everywhere.
    std::string print(std::span<const std::string> names, ValueTexts texts = {}) const;
};

struct FitOptions {
    /// Fewer failing problems have too much in common by chance.
    std::size_t failing_minimum = 4;
    /// In one clause; two clauses are tried where more than one is allowed, with one less each.
    std::size_t terms_maximum = 4;
    /// A rule that is not complete must still hold on this share of what fails.
    double share_minimum = 0.25;
    /// A value that is no number is said to be one of these, or not to be one, and nothing more.
    ValueTexts texts{};
};

/// The simplest rule that agrees with all of them: one clause of any terms, two of limits
/// (at_least, at_most, equal), or one of exceptions; where none does, one that is not complete, but
/// holds on the first that fails. Nothing when there is none either, or when too few fail to tell.
std::optional<FittedRule> fit_rule(std::span<const Observation> seen,
                                   const FitOptions& options = {});

}  // namespace gradverify
