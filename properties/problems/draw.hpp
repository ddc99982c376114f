// SPDX-License-Identifier: Apache-2.0
// Decides how one problem is drawn: small independent values most of the time, one large parameter
// among small ones otherwise, equal neighbours now and then; in some draws values as networks have
// them, or a few sizes of several tiles. Then repaired until no tensor is empty, and reduced until
// it costs no more than its budget. Knows neither seeds of cases nor rapidcheck nor an operator:
// values depend on a parameter's kind and its relations alone.
#pragma once

#include <optional>
#include <vector>

#include "harness/base/random.hpp"
#include "properties/problems/cost.hpp"
#include "properties/problems/solver.hpp"
#include "properties/problems/value_levels.hpp"

namespace gradverify {

class ProblemDrawer {
  public:
    /// How the values of a draw go together.
    enum class Plan {
        mixed,  ///< small and independent, or one of them large
        usual,  ///< as in networks: all axes alike, geometry and padding that go together
        tiled,  ///< two or three sizes of several tiles, the others mostly at their smallest
    };

    ProblemDrawer(const SupportedProblems& problems, WorkBudget budget);

    /// A problem that satisfies the constraints and the budget, and is empty only if the kernel
    /// takes that; predicates are not asked. Nothing when this attempt came to nothing.
    std::optional<Problem> operator()(SplitMix64& random) const;
    /// The same, of this plan.
    std::optional<Problem> operator()(SplitMix64& random, Plan plan) const;
    /// The same, of this rank, which the kernel supports.
    std::optional<Problem> of_rank(SplitMix64& random, int rank) const;

  private:
    class Attempt;

    const SupportedProblems* problems_;
    WorkBudget budget_;
    CostModel cost_;
    std::vector<std::vector<ClassLevels>> levels_;  ///< by domain and class
};

}  // namespace gradverify
