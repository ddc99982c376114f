// SPDX-License-Identifier: Apache-2.0
// Decides whether a kernel does the wrong thing with what its outputs, or its workspace, held
// before the call.
#pragma once

#include <string>

#include "properties/checking/context.hpp"

namespace gradverify {

/// Where a failed kernel adds to outputs that it should write over, or writes over those that it
/// declares to add to: says so, and what mends it. Empty for any other failure. Calls the kernel on
/// the problem's dense data, since what is added may be zero on the case's own.
std::string misuse_of_held_outputs(const CaseContext& context, const Outcome& failed);

/// Where a failed kernel's results change with what its workspace, or memory that its launcher
/// allocates, held before the call: says so, and how much of the workspace it never writes.
std::string misuse_of_workspace(CaseContext& context, const Outcome& failed);

}  // namespace gradverify
