// SPDX-License-Identifier: Apache-2.0
// Decides which other calls may disturb a kernel that keeps state from call to call: on the
// smallest problems that it supports, on the case's own, and on the one that the case was drawn
// with.
#pragma once

#include <vector>

#include "harness/cases/case.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

/// The case with each of them before it, the smallest problem first.
std::vector<Case> with_calls_before(const Kernel& kernel, const Case& checked);

}  // namespace gradverify
