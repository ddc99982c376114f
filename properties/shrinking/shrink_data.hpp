// SPDX-License-Identifier: Apache-2.0
// Walks the shrink trees of data and of settings from a failing case, its problem unchanged. Data
// that cannot be made simple keeps its seed.
#pragma once

#include <vector>

#include "harness/operators/operator.hpp"
#include "properties/shrinking/trials.hpp"

namespace gradverify {

/// **Ranges** `listed`: the non-zero elements of the smallest case so far.
void shrink_data(ShrinkTrials& trials, const Operator& op, const std::vector<DataElement>& listed);

void shrink_setting(ShrinkTrials& trials);

}  // namespace gradverify
