// SPDX-License-Identifier: Apache-2.0
// expect: wrong launcher signature; the third argument of GRADVERIFY_KERNEL must be a function
#include "harness/kernel.hpp"
#include "reference/conv.hpp"

static void launch(const gradverify::conv::GradBias&) {}

GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "wrong", launch);
