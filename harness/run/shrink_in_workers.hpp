// SPDX-License-Identifier: Apache-2.0
// Decides how the candidates of shrinking are run: through crashes, with less patience for those
// that hang, and alone where a failure shows only so. What is tried is the suite's affair.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "harness/cases/suite.hpp"
#include "harness/workers/pool.hpp"

namespace gradverify {

/// Where shrinking may begin and when it must end.
struct ShrinkLimits {
    /// Problems on which the kernel is known to fail another property: tried first, as they are
    /// often where this failure ends too.
    std::vector<Problem> known{};
    /// Those that were explained on the case's device, at which no failure is explained once more.
    std::vector<Problem> explained{};
    /// No candidate is run after it, and nothing is claimed about the smallest case found so far.
    /// That one is still run once in a fresh process, unless it hangs.
    std::optional<std::chrono::steady_clock::time_point> deadline{};
};

/// The smallest reproducer that the suite finds. What a hang or a lack of memory was shrunk to is
/// run once more with the limits of any case; if it passes then, or if the run is interrupted, the
/// failure stays as it was found. What does not fail again in a fresh process needs an earlier
/// call: one is looked for, and becomes part of the case.
Shrunk shrink_in_workers(const Suite& suite, WorkerPool& pool, const Case& found,
                         const Outcome& outcome, const ShrinkLimits& limits = {});

}  // namespace gradverify
