// SPDX-License-Identifier: Apache-2.0
// Decides which smaller problems are tried next to one that fails. Parameters are changed alone,
// in pairs and all together, because shrinking one alone often makes a problem invalid, or hides
// the bug; axes are left out; the constraints are solved again each time. Runs nothing.
#pragma once

#include <vector>

#include "properties/problems/solver.hpp"

namespace gradverify {

/// Supported problems before this one in the order of problems, most promising first: no duplicate,
/// a few hundred at most.
std::vector<Problem> smaller_problems(const SupportedProblems& supported, const Problem& problem);

}  // namespace gradverify
