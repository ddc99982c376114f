// SPDX-License-Identifier: Apache-2.0
// Decides what is said of a shrunk failure beside the smallest problem: what fails in general, and
// who is wrong. Runs cases through the runner that it is given.
#pragma once

#include "harness/cases/suite.hpp"

namespace gradverify {

/// Fills in `generality` and `witnesses`.
void explain(const Kernel& kernel, Shrunk& shrunk, const CaseRunner& runner);

}  // namespace gradverify
