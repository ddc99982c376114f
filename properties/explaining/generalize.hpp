// SPDX-License-Identifier: Apache-2.0
// Decides what to run to tell what failed in general: the smallest failing problem with one
// parameter changed, over a spread of values, then with many changed at once, until a rule has
// stood up to problems that were chosen to break it. Fitting a rule is rule.hpp's business.
#pragma once

#include "properties/problems/solver.hpp"
#include "properties/shrinking/problem_trials.hpp"

namespace gradverify {

/// A problem that fails takes one run, one that passes each dense draw.
inline constexpr RunBudget generalize_budget{.runs = 1500, .seconds = 2.0};

/// What failed in general, beginning at the smallest failing problem. Says what was seen where no
/// rule fits, or where the budget ended first. Problems on which nothing could be compared, such as
/// empty ones, say nothing.
Generality generalize(const SupportedProblems& supported, const Problem& smallest,
                      ProblemTrials& problems, ShrinkTrials& trials,
                      const RunBudget& budget = generalize_budget);

}  // namespace gradverify
