// SPDX-License-Identifier: Apache-2.0
// Decides which step of a chain of layers is wrong: compares each with its own operator's
// reference, on the tensors that really flowed through the kernel.
#pragma once

#include <string>

#include "harness/devices/launch.hpp"
#include "properties/checking/context.hpp"

namespace gradverify {

/// A sentence that names the first step that departs, or says that none does; empty for a pass
/// without steps. `result`: of the case's kernel on the case's inputs.
std::string departing_step(CaseContext& context, const CallResult& result);

}  // namespace gradverify
