// SPDX-License-Identifier: Apache-2.0
// Decides which problems differ from one in a single parameter: a kernel that keeps what it found
// for one of them, and forgets that parameter, takes it for the other's.
#pragma once

#include <vector>

#include "properties/problems/solver.hpp"

namespace gradverify {

/// For each class of parameters that may have another value beside the others', the supported
/// problem with the nearest one; attributes first, then the classes in their order.
std::vector<Problem> with_one_changed(const SupportedProblems& supported, const Problem& problem);

}  // namespace gradverify
