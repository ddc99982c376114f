// SPDX-License-Identifier: Apache-2.0
// Decides by which factors problems differ in kind, and the levels of each: a free parameter's
// neighbourhood of powers of two, and what the operator declares for parameters together, such as
// stride against filter. Coverage counts pairs of levels, and the generator draws for them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/operators/operator.hpp"
#include "harness/registry/kernel_declaration.hpp"

namespace gradverify {

/// One thing by which problems of a rank differ, such as a parameter's value.
struct Factor {
    std::string name;                 ///< `in_h`, `stride against filter, w`
    std::vector<std::string> levels;  ///< what each level is called
    std::vector<int> slots;           ///< of the values that it depends on
    int level_of_nothing = -1;        ///< the level that makes a tensor empty, or -1
    int (*level_of_values)(std::span<const std::int64_t> values) = nullptr;

    /// The position of a problem's level in `levels`.
    int level_of(const Problem& problem) const;
};

/// One factor for each free slot, then those that the operator declares, axis by axis.
std::vector<Factor> factors_of(const Operator& op, const KernelDeclaration& kernel, int rank);

/// The slots that no constraint holds at one value or equal to a slot before.
std::vector<int> free_slots(const Operator& op, const KernelDeclaration& kernel, int rank);

/// Which levels of two factors were met in one problem, for every two factors of a rank.
class LevelPairs {
  public:
    explicit LevelPairs(std::vector<Factor> factors);
    /// Those of another process. **Errors** std::invalid_argument for too many or too few bits.
    LevelPairs(std::vector<Factor> factors, std::vector<std::uint64_t> bits);

    /// The number of a problem's pairs that were not met before. A problem with an empty tensor
    /// only shows what empty tensors give: its pairs are those with a level of nothing.
    std::int64_t count_new(std::span<const int> levels, bool is_empty) const;
    /// The same; the pairs are met from now on.
    std::int64_t add(std::span<const int> levels, bool is_empty);
    /// The pairs that another set of the same factors has met are met here, too.
    /// **Errors** std::invalid_argument for other factors.
    void add(const LevelPairs& other);

    const std::vector<Factor>& factors() const { return factors_; }
    std::vector<int> levels_of(const Problem& problem) const;
    bool is_met(int factor, int level, int other, int level_of_other) const;
    std::int64_t count() const { return count_; }
    /// All that is met, to be told to another process.
    const std::vector<std::uint64_t>& bits() const { return met_; }
    /// How many pairs of levels of these two factors are met that are so in another set as well.
    std::int64_t count_of(int factor, int other, const LevelPairs& within) const;
    /// The pairs of another set that are not met here: how many, and names such as `n 1 with c 2`.
    struct Missing {
        std::int64_t count = 0;
        std::vector<std::string> first;
    };
    Missing missing_of(const LevelPairs& other, std::size_t names) const;

  private:
    template <class Visit>
    void for_new(std::span<const int> levels, bool is_empty, Visit visit) const;
    /// Of a level, numbered through all factors.
    std::size_t number_of(std::size_t factor, int level) const;

    std::vector<Factor> factors_;
    std::vector<int> first_level_;    ///< by factor
    int levels_ = 0;                  ///< of all factors
    std::size_t words_ = 0;           ///< for a bit of each level
    std::vector<std::uint64_t> met_;  ///< by level, and a bit for each level of a later factor
    std::int64_t count_ = 0;
};

}  // namespace gradverify
