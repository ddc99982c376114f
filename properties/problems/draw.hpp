// SPDX-License-Identifier: Apache-2.0
// Decides how one problem is drawn. It is repaired until no tensor is empty, and reduced until it
// costs no more than its budget. Values depend on the kinds of parameters and their relations
// alone; no operator is known here, nor the seeds of cases.
#pragma once

#include <optional>
#include <vector>

#include "harness/base/random.hpp"
#include "properties/problems/cost.hpp"
#include "properties/problems/size_plan.hpp"
#include "properties/problems/solver.hpp"
#include "properties/problems/value_levels.hpp"

namespace gradverify {

class ProblemDrawer {
  public:
    /// How the values of a draw go together.
    enum class Plan {
        mixed,  ///< small and independent, now and then alike, or one of them large
        usual,  ///< as in networks: all axes alike, geometry and padding that go together
        tiled,  ///< two or three sizes of several tiles, the others mostly at their smallest
        sized,  ///< one or two sizes as they are given, the others small
    };

    ProblemDrawer(const SupportedProblems& problems, WorkBudget budget);

    /// A problem that satisfies the constraints and the budget, and is empty only if the kernel
    /// takes that; predicates are not asked. Nothing when this attempt failed.
    std::optional<Problem> operator()(SplitMix64& random, std::optional<Plan> plan = {}) const;
    /// The same, of this rank, which the kernel supports.
    std::optional<Problem> of_rank(SplitMix64& random, int rank) const;
    /// The same of these sizes, which may cost twice as much as at their least.
    std::optional<Problem> of_sizes(SplitMix64& random, const GivenSizes& given) const;

    /// What it costs, as a share of the budget.
    double share_of(const Problem& problem) const { return cost_(problem).share_of(budget_); }

  private:
    class Attempt;

    const SupportedProblems* problems_;
    WorkBudget budget_;
    CostModel cost_;
    std::vector<std::vector<ClassLevels>> levels_;  ///< by domain and class
};

}  // namespace gradverify
