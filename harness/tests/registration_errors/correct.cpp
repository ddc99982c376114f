// SPDX-License-Identifier: Apache-2.0
// expect-success: the same registration, right
#include "harness/kernel.hpp"
#include "reference/conv.hpp"

static void launch(const gradverify::conv::GradWeight&) {}

GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "right", launch)
    .where("stride", gradverify::equals(1));
