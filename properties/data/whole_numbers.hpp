// SPDX-License-Identifier: Apache-2.0
// Decides which whole numbers a tensor is filled with: indices, permutations, offsets of parts.
#pragma once

#include "harness/base/random.hpp"
#include "harness/operators/operator.hpp"

namespace gradverify {

/// Numbers arranged so, the ends of the range more often. Dense: all of the range in a random
/// order, then all again, where these are up to 4,096. Of offsets: parts of any sizes, alike or
/// empty but for a few, or one that is all.
void fill_indices(Array<double>& array, Arrangement arrangement, const ValueDomain& range,
                  bool is_dense, SplitMix64 random);

/// Turn 0: the simplest numbers, where free all alike. Turn 1: as far apart as they may be, and
/// ascending. Turn 2: the highest ones first.
void fill_simple_indices(Array<double>& array, int turn, Arrangement arrangement,
                         const ValueDomain& range);

/// Replaces at least one number by one outside of the range: those beside it, or the type's ends.
void put_invalid(Array<double>& array, const ValueDomain& range, DType dtype, SplitMix64 random);

}  // namespace gradverify
