// SPDX-License-Identifier: Apache-2.0
// The operator conv itself, with its reference, for an operator that is made of it.
#pragma once

#include "harness/operators/operator.hpp"

namespace gradverify::conv {

Operator describe();

}  // namespace gradverify::conv
