// SPDX-License-Identifier: Apache-2.0
// Runs cases in a worker that serves nothing else, checks its heap and must end in good order: what
// goes wrong there is the doing of these cases. Waits for it; decides nothing about blame.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/cases/outcome.hpp"
#include "harness/workers/process.hpp"
#include "harness/workers/time_limit.hpp"

namespace gradverify {

struct LoneRun {
    const std::vector<std::string>& command;
    /// Printed cases, run in this order.
    std::vector<std::string> cases;
    /// Kernels that are not to be called on behalf of others.
    std::vector<std::string> distrusted;
    const TimeLimits& limits;
    Patience patience = Patience::full;
    std::size_t memory_bytes = 0;
    double start_seconds = 60.0;
};

struct LoneResult {
    /// Of the last case, unless the worker died.
    Outcome outcome;
    /// How the worker died, at a case or at its exit.
    std::optional<WorkerEnd> death;
};

/// **Errors** EnvironmentError when no worker can be started, or the device can't be reached by
/// several in a row; Interrupted.
LoneResult run_alone(const LoneRun& run);

/// Why a worker that said this can't serve a case; nothing for any other line.
std::optional<std::string> unreachable_device(const std::string& line);
/// Counts workers in a row that could not reach the device, and waits a little for it.
///
/// **Errors** EnvironmentError when there were too many.
void await_device(int& failures, const std::string& why);

}  // namespace gradverify
