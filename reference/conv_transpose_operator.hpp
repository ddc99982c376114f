// SPDX-License-Identifier: Apache-2.0
// The operator conv_transpose itself, with its reference, for an operator that is made of it.
#pragma once

#include "harness/operators/operator.hpp"

namespace gradverify::conv_transpose {

Operator describe();

}  // namespace gradverify::conv_transpose
