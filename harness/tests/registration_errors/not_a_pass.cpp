// SPDX-License-Identifier: Apache-2.0
// expect: the first argument of GRADVERIFY_KERNEL must be a pass of an operator, such as
#include "harness/kernel.hpp"
#include "reference/conv.hpp"

static void launch(const gradverify::conv::Parameters&) {}

GRADVERIFY_KERNEL(gradverify::conv::Parameters, "wrong", launch);
