// SPDX-License-Identifier: Apache-2.0
// The rapidcheck generators of problems, and their shrink tree. What a random number draws is
// decided by ProblemGenerator, and which problems are next to one by smaller_problems. Pulls in
// rapidcheck.
#pragma once

#include <rapidcheck/Gen.h>

#include "properties/problems/generator.hpp"

namespace gradverify {

/// A problem with its smaller neighbours, theirs, and so on; none is made before it is asked for.
///
/// **Ranges** `supported` must live longer.
rc::Shrinkable<Problem> problem_tree(const SupportedProblems& supported, Problem problem);

/// Draws freely. The size that rapidcheck grows over a run is not used: a case must not depend on
/// how many cases there are.
///
/// **Ranges** the generator must live longer, here and below.
rc::Gen<Problem> problem_gen(const ProblemGenerator& generator);

/// Draws the problem of case `index`.
rc::Gen<Problem> problem_gen(const ProblemGenerator& generator, std::int64_t index);

}  // namespace gradverify
