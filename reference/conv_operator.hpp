// SPDX-License-Identifier: Apache-2.0
// The operator conv itself, with its reference, for an operator that is made of it.
#pragma once

#include "harness/operator.hpp"

namespace gradverify::conv {

Operator describe();

}  // namespace gradverify::conv
