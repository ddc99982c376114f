// SPDX-License-Identifier: Apache-2.0
// Decides how the candidates of shrinking are run: through crashes, with little patience, and alone
// where only that shows the failure. The suite decides what is tried.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "harness/cases/suite.hpp"
#include "harness/workers/pool.hpp"

namespace gradverify {

/// Where shrinking may begin and when it must end.
struct ShrinkLimits {
    /// Problems on which the kernel fails another property: tried first, since it often fails
    /// alike.
    std::vector<Problem> known{};
    /// Problems whose failure was explained on the case's device, and is not explained again.
    std::vector<Problem> explained{};
    /// The user gave the problem: shrinking stays with what fails there, likewise to the outputs.
    bool is_asked = false;
    /// No candidate is run after it. The smallest case found so far is then not certified, and is
    /// still run once in a fresh process, unless it hangs.
    std::optional<std::chrono::steady_clock::time_point> deadline{};
    /// What goes on while a candidate runs; see RunOptions.
    std::function<void()> meanwhile{};
};

/// The smallest reproducer that the suite finds. A hang or a lack of memory is confirmed with the
/// full limits; if it passes there, or the run is interrupted, the failure stays as it was found.
/// If a failure does not show in a fresh process, an earlier call that it needs is looked for.
Shrunk shrink_in_workers(const Suite& suite, WorkerPool& pool, const Case& found,
                         const Outcome& outcome, const ShrinkLimits& limits = {});

}  // namespace gradverify
