// SPDX-License-Identifier: Apache-2.0
// Decides which problems show what fails in general: the smallest failing one with one parameter
// changed, then with many, until a rule (rule.hpp) withstands those that were chosen to break it.
#pragma once

#include "properties/problems/solver.hpp"
#include "properties/shrinking/trials.hpp"

namespace gradverify {

inline constexpr RunBudget generalize_budget{.runs = 1500, .seconds = 2.0};

/// What fails in general, beginning at the smallest failing problem; what was seen, where no rule
/// fits or the budget ends first. Problems on which nothing could be compared say nothing.
Generality generalize(const SupportedProblems& supported, const Problem& smallest,
                      ProblemTrials& problems, ShrinkTrials& trials,
                      const RunBudget& budget = generalize_budget);

}  // namespace gradverify
