// SPDX-License-Identifier: Apache-2.0
// Finds out what work comes to by itself.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/workers/crew.hpp"

namespace gradverify {

struct LoneResult {
    Outcome outcome;                 ///< of the last work, unless the worker died
    std::optional<WorkerEnd> death;  ///< of the worker, at some work or at its exit
};

/// Runs work, in this order, in a fresh worker whose end is checked, and its heap with it where
/// `checks_heap`: what goes wrong there is this work's doing. `meanwhile` is called now and then.
LoneResult run_alone(WorkerPoolOptions options, const TimeLimits& limits,
                     const std::vector<Work>& works, Patience patience = Patience::full,
                     std::set<std::string> distrusted = {},
                     const std::function<void()>& meanwhile = {}, bool checks_heap = true);

}  // namespace gradverify
