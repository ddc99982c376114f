// SPDX-License-Identifier: Apache-2.0
// Decides whether integers stay exact through a pass: in any order of summation, every sum on the
// way to a result must stay within the integers that the type holds.
#pragma once

#include <vector>

#include "harness/operators/operator.hpp"

namespace gradverify {

/// Runs the pass's bounded reference in an arithmetic that rounds nothing and has no number beyond
/// 2^exact_bits: each sum counts with the magnitudes of its terms, on the branches that the data
/// take. Where the operator leaves open which branch a gradient follows at a tie, true.
///
/// **Shapes** `taken` is what the reference takes, in its order: integers.
bool sums_stay_exact(const Operator& op, const PassSpec& pass, const Problem& problem,
                     const std::vector<Array<double>>& taken, int exact_bits);

}  // namespace gradverify
