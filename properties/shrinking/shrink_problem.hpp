// SPDX-License-Identifier: Apache-2.0
// Decides the smallest problem that fails, and what is proven of it: the nearest problems first,
// then down the shrink tree, then every smaller supported problem in order, or every one in the
// problem's box where those are too many.
#pragma once

#include "properties/problems/solver.hpp"
#include "properties/shrinking/trials.hpp"

namespace gradverify {

/// What the phases of shrinking may take; tests take less.
struct ShrinkOptions {
    /// The nearest problems, tried first: most bugs show there.
    RunBudget near{.runs = 1000, .seconds = 3.0};
    /// Walking the shrink tree.
    RunBudget descent{.runs = 4000, .seconds = 10.0};
    /// Running every smaller problem; not begun where it takes more runs.
    RunBudget certification{.runs = 60'000, .seconds = 15.0};
    /// Running every problem in the box.
    RunBudget box{.runs = 20'000, .seconds = 10.0};
    /// Shrinking the data of the smallest problem.
    RunBudget data{.runs = 1000, .seconds = 5.0};
    /// Problems in the box that are counted; beyond, there are more.
    std::int64_t box_counted = 200'000;
    /// Looking for the next problem to run; see EnumerationLimits.
    std::int64_t enumeration_steps = 10'000'000;
};

/// Shrinks the problem of the smallest failing case of `trials`.
Minimality shrink_problem(const SupportedProblems& supported, ProblemTrials& problems,
                          ShrinkTrials& trials, const ShrinkOptions& options);

}  // namespace gradverify
