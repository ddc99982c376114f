// SPDX-License-Identifier: Apache-2.0
// The rapidcheck generator of problems, for properties that compose it. Pulls in rapidcheck.
#pragma once

#include <rapidcheck/Gen.h>

#include "properties/problems/generator.hpp"

namespace gradverify {

/// Draws from a generator, which must live longer; every value comes with its shrink tree.
rc::Gen<Problem> problem_gen(const ProblemGenerator& generator);

}  // namespace gradverify
