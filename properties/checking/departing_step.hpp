// SPDX-License-Identifier: Apache-2.0
// Decides which step of a chain of layers is wrong, where a kernel's results are: each step is held
// to its own operator's reference, on the tensors that really flowed through the kernel. Generic
// over operators.
#pragma once

#include <string>

#include "harness/devices/launch.hpp"
#include "properties/checking/context.hpp"

namespace gradverify {

/// A sentence that names the first step that departs, or says that none does; empty for a pass that
/// is not made of steps. `result` is what the case's kernel gave on the case's inputs.
std::string departing_step(CaseContext& context, const CallResult& result);

}  // namespace gradverify
