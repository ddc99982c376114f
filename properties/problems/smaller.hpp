// SPDX-License-Identifier: Apache-2.0
// Decides which smaller problems are tried next to one that fails. Parameters change alone, in
// pairs and together, because one alone often makes a problem invalid, or hides the bug.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "properties/problems/solver.hpp"

namespace gradverify {

/// Supported problems before this one in the order of problems, most promising first: no duplicate,
/// a few hundred at most.
std::vector<Problem> smaller_problems(const SupportedProblems& supported, const Problem& problem);

/// A smaller supported problem with one class of parameters at this value, or the nearest that the
/// others allow; nothing where there is none.
std::optional<Problem> smaller_by_one(const SupportedProblems& supported, const Problem& problem,
                                      int which, std::int64_t value);

}  // namespace gradverify
