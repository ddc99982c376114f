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

namespace gradverify {

/// By parameter, the texts of its values where these are no numbers but positions in a list, as an
/// attribute's are. Empty, or missing, for numbers.
using ValueTexts = std::span<const std::vector<std::string>>;

/// The text of a parameter's value.
std::string text_of(std::int64_t value, ValueTexts texts, int parameter);

/// A condition on one parameter, on two, or on the product of several: `k >= 2`, `in_w is even`,
/// `filter_w < in_w`.
struct Term {
    enum class Kind { at_least, at_most, less, equal, unequal, multiple, no_multiple };
    Kind kind = Kind::at_least;
    std::vector<int> left;     ///< parameters; the product of their values is compared
    std::int64_t value = 0;    ///< what it is compared with
    int right = -1;            ///< the parameter that it is compared with instead
    std::int64_t modulus = 0;  ///< if not zero, the remainder of a division by this is compared

    bool holds(std::span<const std::int64_t> values) const;
    std::string print(std::span<const std::string> names, ValueTexts texts) const;
    /// Among terms that explain the same, the one of least cost is taken.
    double cost() const;
};

/// A condition that holds where all of its terms do.
using Clause = std::vector<Term>;

/// A problem that was run: a value for each parameter, and whether it fails.
struct Observation {
    std::vector<std::int64_t> values;
    bool fails = false;
};

/// It fails wherever a clause holds.
struct FittedRule {
    std::vector<Clause> clauses;
    bool is_complete = true;  ///< and nowhere else

    bool agrees_with(const Observation& one) const {
        return holds(one.values) ? one.fails : !(is_complete && one.fails);
    }
    bool holds(std::span<const std::int64_t> values) const;
    /// The clauses: `k >= 2 and in_w is even, or wherever n >= 3`; empty when it fails everywhere.
    std::string print(std::span<const std::string> names, ValueTexts texts = {}) const;
};

/// The simplest rule that agrees with all of them: one clause of any terms, or two of limits; where
/// neither does, one that is not complete, but holds on the first that fails. Nothing when there is
/// none either, or when fewer than `failing_minimum` fail: few have too much in common by chance.
std::optional<FittedRule> fit_rule(std::span<const Observation> seen, ValueTexts texts = {},
                                   std::size_t failing_minimum = 4);

}  // namespace gradverify
