// SPDX-License-Identifier: Apache-2.0
// Decides what is said of a shrunk failure: what fails in general (generalize.cpp), and who is
// wrong (witnesses.cpp), and what failing runs have in common (symptoms.cpp).
#pragma once

#include "properties/problems/solver.hpp"
#include "properties/properties.hpp"
#include "properties/shrinking/trials.hpp"

namespace gradverify {

/// Fills in `generality`, `values`, `witnesses` and `symptoms`. Without `list_data` outputs are not
/// compared with inputs.
void explain(const Kernel& kernel, Shrunk& shrunk, const CaseRunner& runner,
             const ListData& list_data = {});

struct FailingRun {
    Case checked;
    Outcome outcome;
};

/// Which outputs are wrong in these runs, and what holds of all their wrong elements: they are
/// zero, or those that are wanted times a number, with two axes exchanged, moved along an axis, or
/// other values.
Symptoms symptoms_of(const Kernel& kernel, std::vector<FailingRun> runs,
                     const ListData& list_data = {});

/// Something in which a call is unlike others, and the setting without it.
struct SettingField {
    std::string text;  ///< `with dy expanded along axis 1`
    Setting without;
};
std::vector<SettingField> fields_that_differ(const Kernel& kernel, const Setting& setting);

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
