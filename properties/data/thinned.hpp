// SPDX-License-Identifier: Apache-2.0
// Decides whether integers stay exact through a pass: in any order of summation, every sum on the
// way to a result must stay within the integers that the type holds. And which integers the tensors
// of a piecewise polynomial operator hold, where sums grow from layer to layer: as large and as
// many as stay exact.
#pragma once

#include "harness/registry/element_types.hpp"
#include "properties/data/values.hpp"

namespace gradverify {

/// Runs the pass's bounded reference in an arithmetic that rounds nothing and has no number beyond
/// 2^exact_bits: each sum counts with the magnitudes of its terms, on the branches that the data
/// take. Where the operator leaves open which branch a gradient follows at a tie, true.
///
/// **Shapes** `taken` is what the reference takes, in its order: integers.
bool sums_stay_exact(const Operator& op, const PassSpec& pass, const Problem& problem,
                     const std::vector<Array<double>>& taken, int exact_bits);

/// Integers for all inputs and cotangents of floating types; indices as elsewhere. The first that
/// fit are taken, from large and dense ones to few of magnitude one.
///
/// **Errors** std::logic_error when none do, as for a constant in the formula beyond 2^p.
Values draw_thinned(const Operator& op, const Problem& problem, const Data& data,
                    const ElementTypes& types);

}  // namespace gradverify
