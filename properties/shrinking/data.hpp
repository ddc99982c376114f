// SPDX-License-Identifier: Apache-2.0
// Decides the simplest data and setting with which a case still fails, its problem unchanged: one
// element of a tensor or of each of a few, of value one, else the few elements that are needed;
// the default setting, else the few fields that matter. Data that cannot be made that simple keeps
// its seed.
#pragma once

#include <vector>

#include "harness/operators/operator.hpp"
#include "properties/shrinking/trials.hpp"

namespace gradverify {

/// **Ranges** `listed`: the non-zero elements of the smallest case so far.
void shrink_data(ShrinkTrials& trials, const Operator& op, const std::vector<DataElement>& listed);

void shrink_setting(ShrinkTrials& trials);

}  // namespace gradverify
