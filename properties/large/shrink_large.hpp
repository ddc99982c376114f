// SPDX-License-Identifier: Apache-2.0
// Decides how a failing case on a large problem is made smaller: fewer copies of a simpler small
// problem. Each run takes up to a second, so there are few of them and nothing is certified.
#pragma once

#include "harness/cases/suite.hpp"
#include "properties/shrinking/trials.hpp"

namespace gradverify {

Shrunk shrink_large(const Kernel& kernel, const Case& found, const Outcome& outcome,
                    const CaseRunner& runner);

}  // namespace gradverify
