// SPDX-License-Identifier: Apache-2.0
// Decides which smaller problems are tried next to one that fails. Parameters change alone, in
// pairs and together, because one alone often makes a problem invalid, or hides the bug.
#pragma once

#include <vector>

#include "properties/problems/solver.hpp"

namespace gradverify {

/// Supported problems before this one in the order of problems, most promising first: no duplicate,
/// a few hundred at most.
std::vector<Problem> smaller_problems(const SupportedProblems& supported, const Problem& problem);

}  // namespace gradverify
