// SPDX-License-Identifier: Apache-2.0
// Decides the order in which a failing case is shrunk: first the problem, so that two seeds end at
// one problem, then the data; where few are left that dense data don't hold, or that choose among
// others as indices do, the problem once more with these; then the setting. Data that cannot be
// made simple keeps its seed.
#pragma once

#include <vector>

#include "harness/cases/suite.hpp"
#include "properties/problems/solver.hpp"
#include "properties/shrinking/trials.hpp"

namespace gradverify {

/// What the phases of shrinking may take; tests take less.
struct ShrinkOptions {
    /// Where the failure is far from the smallest problems: halving the way of each parameter to
    /// its smallest value. Where it still is far then, also the descent.
    RunBudget bisection{.runs = 300, .seconds = 5.0};
    /// The nearest problems then, and those in a box that is too large to be run.
    RunBudget far{.runs = 100, .seconds = 1.0};
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
    /// Carrying its values to smaller problems.
    RunBudget carried{.runs = 300, .seconds = 3.0};
    /// Running smaller problems with further draws; not begun where it takes more runs.
    RunBudget again{.runs = 300, .seconds = 3.0};
    /// Problems in the box that are counted; beyond, there are more.
    std::int64_t box_counted = 200'000;
    /// Looking for the next problem to run; see EnumerationLimits.
    std::int64_t enumeration_steps = 10'000'000;
};

/// Shrinks the problem of the smallest failing case of `trials`, and says what is proven of it: the
/// nearest problems first (of a far one, by halving), then down the shrink tree, then every smaller
/// supported problem in order, or every one in the problem's box where those are too many.
Minimality shrink_problem(const SupportedProblems& supported, ProblemTrials& problems,
                          ShrinkTrials& trials, const ShrinkOptions& options);

/// Shrinks the data of the smallest case so far, its problem unchanged.
///
/// **Ranges** `listed`: the non-zero elements of that case.
void shrink_data(ShrinkTrials& trials, const Operator& op, const std::vector<DataElement>& listed);
void shrink_setting(ShrinkTrials& trials);

/// Shrinks a failing case. Data keeps its seed where there is no `list_data`.
Shrunk shrink_case(const Kernel& kernel, const Case& found, const Outcome& outcome,
                   const CaseRunner& runner, const ListData& list_data = {},
                   const ShrinkOptions& options = {});

}  // namespace gradverify
