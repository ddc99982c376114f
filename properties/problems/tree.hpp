// SPDX-License-Identifier: Apache-2.0
// The door to rapidcheck: problems as a generator with a shrink tree. Which problems are drawn is
// decided by ProblemGenerator, and which smaller ones follow by smaller_problems. The generator
// itself (an rc::Gen) is declared in problem_gen.hpp, so that only those who compose it pay for
// rapidcheck's headers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "properties/problems/solver.hpp"

namespace gradverify {

class ProblemGenerator;

/// The root of the generator's tree for this seed.
Problem draw_from_tree(const ProblemGenerator& generator, std::uint64_t seed);

/// Walks the shrink tree from a failing problem to a smaller one, greedily: always to the first
/// child that `fails`, until none does or `may_go_on` says no.
Problem descend_tree(const SupportedProblems& supported, const Problem& failing,
                     const std::function<bool(const Problem&)>& fails,
                     const std::function<bool()>& may_go_on);

}  // namespace gradverify
