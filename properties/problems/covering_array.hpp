// SPDX-License-Identifier: Apache-2.0
// Decides on problems in which every level of every factor (harness/registry/factors.hpp) meets
// every level of every other, as far as constraints and budget allow: a covering array of strength
// two. Levels that no draw and no search brought together count as out of reach.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/random.hpp"
#include "harness/registry/factors.hpp"
#include "properties/problems/cost.hpp"
#include "properties/problems/draw.hpp"
#include "properties/problems/solver.hpp"

namespace gradverify {

/// The most that a problem of an array may cost: little, since all of them are run for every row.
inline constexpr WorkBudget covering_budget{
    .multiply_adds = 0x1p13, .thread_barriers = 0x1p14, .bytes = 0x1p16};

class CoveringArray {
  public:
    /// `problems` must live longer.
    explicit CoveringArray(const SupportedProblems& problems, WorkBudget budget = covering_budget);

    /// Those that meet most come first.
    const std::vector<Problem>& problems() const { return members_; }
    /// The pairs of levels that its problems meet, by rank.
    const std::map<int, LevelPairs>& pairs() const { return pairs_; }

    /// A problem with all levels of member `index`, and other values where these leave a choice.
    Problem varied(std::size_t index, SplitMix64& random) const;

  private:
    const SupportedProblems* supported_;
    WorkBudget budget_;
    CostModel cost_;
    std::vector<Problem> members_;
    std::map<int, LevelPairs> pairs_;
};

/// Covering arrays, one for all kernels that support the same problems at the same cost. Each is
/// made when it is first asked for, which takes a hundredth of a second or more.
class CoveringArrays {
  public:
    /// The same array whichever kernel asks first. The operator must live longer. Several threads
    /// may ask at once.
    const CoveringArray& of(const SupportedProblems& problems);

  private:
    struct Entry {
        KernelDeclaration kernel;
        SupportedProblems problems;
        std::once_flag is_made;
        std::optional<CoveringArray> array;

        Entry(const Operator& op, const PassSpec& pass, KernelDeclaration declared);
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;
    };

    std::mutex mutex_;
    std::map<std::string, Entry> entries_;
};

}  // namespace gradverify
