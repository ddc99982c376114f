// SPDX-License-Identifier: Apache-2.0
// Decides what is said of a shrunk failure: what fails in general, and who is wrong.
#pragma once

#include "harness/cases/suite.hpp"

namespace gradverify {

/// Fills in `generality` and `witnesses`.
void explain(const Kernel& kernel, Shrunk& shrunk, const CaseRunner& runner);

}  // namespace gradverify
