// SPDX-License-Identifier: Apache-2.0
// Decides the order in which a failing case is shrunk: first the problem, so that two seeds end at
// one problem, then the data, then the setting. Data that cannot be made simple keeps its seed.
#pragma once

#include <functional>
#include <vector>

#include "harness/cases/suite.hpp"
#include "properties/shrinking/shrink_problem.hpp"
#include "properties/shrinking/trials.hpp"

namespace gradverify {

/// Shrinks the data of the smallest case so far, its problem unchanged.
///
/// **Ranges** `listed`: the non-zero elements of that case.
void shrink_data(ShrinkTrials& trials, const Operator& op, const std::vector<DataElement>& listed);
void shrink_setting(ShrinkTrials& trials);

/// The non-zero values of a case's tensors.
using ListData = std::function<std::vector<DataElement>(const Case&)>;

/// Shrinks a failing case. Data keeps its seed where there is no `list_data`.
Shrunk shrink_case(const Kernel& kernel, const Case& found, const Outcome& outcome,
                   const CaseRunner& runner, const ListData& list_data = {},
                   const ShrinkOptions& options = {});

}  // namespace gradverify
