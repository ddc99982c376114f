// SPDX-License-Identifier: Apache-2.0
// Decides what is said of a shrunk failure: what fails in general (generalize.cpp), and who is
// wrong (witnesses.cpp).
#pragma once

#include "properties/problems/solver.hpp"
#include "properties/properties.hpp"
#include "properties/shrinking/trials.hpp"

namespace gradverify {

/// Fills in `generality`, `values` and `witnesses`.
void explain(const Kernel& kernel, Shrunk& shrunk, const CaseRunner& runner);

/// What the dense draws' data came to at the smallest problem, called as the failure was.
struct DrawsThere {
    int compared = 0, failing = 0;
    /// Whether the data decide, and not the problem alone.
    bool differ() const { return failing < compared; }
};

inline constexpr RunBudget generalize_budget{.runs = 1500, .seconds = 2.0};

/// What fails in general: runs the smallest failing problem with one parameter changed, then with
/// many, until a rule withstands those that were chosen to break it. What was seen, where no rule
/// fits or the budget ends first. Problems on which nothing could be compared say nothing. Where
/// draws differ, only what no chance of the data explains is told.
Generality generalize(const SupportedProblems& supported, const Problem& smallest,
                      ProblemTrials& problems, ShrinkTrials& trials,
                      const RunBudget& budget = generalize_budget, const DrawsThere& draws = {});

/// Compares kernel, reference, differences of the reference's forward map, and the registered
/// kernels of the operator. Run like a property, on integers: failed where the kernel differs from
/// the reference, else passed; the message says who is wrong. Skipped where that can't be asked.
const DefinedProperty& witnesses();

}  // namespace gradverify
