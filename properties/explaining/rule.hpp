// SPDX-License-Identifier: Apache-2.0
// Decides which rule fits the problems that were run: the conditions on parameters, known by their
// position only, under which a kernel fails. A rule agrees with all problems that it was made from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "properties/explaining/term.hpp"

namespace gradverify {

struct Observation {
    std::vector<std::int64_t> values;
    bool fails = false;
};

/// It fails wherever all terms of a clause hold; or, with a clause of exceptions, everywhere else.
struct FittedRule {
    std::vector<std::vector<Term>> clauses;
    bool is_of_exceptions = false;

    bool agrees_with(const Observation& one) const {
        return (holds(one.values) != is_of_exceptions) == one.fails;
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
    /// A value that is no number is only said to be equal or not.
    ValueTexts texts{};
};

/// The simplest rule that agrees with all of them: one clause of any terms, two of limits
/// (at_least, at_most, equal), or one of exceptions. Nothing when none fits, or when too few fail.
std::optional<FittedRule> fit_rule(std::span<const Observation> seen,
                                   const FitOptions& options = {});

}  // namespace gradverify
