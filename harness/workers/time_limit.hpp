// SPDX-License-Identifier: Apache-2.0
// Decides how long a case may take before it counts as one that does not end, in seconds of its
// worker's processor time, so that a loaded machine raises no alarm:
//
//   limit = (floor + work * seconds_per_multiply_add) * max(1, factor * r)
//
// with r the largest share of its own parenthesis that a case of this run has taken on the device.
// A case on a large problem, made of copies, has a limit of its own instead of the parenthesis: it
// measures first how long its kernel takes, and is skipped where that is too long. Such cases are
// compared with each other alone.
// On the CPU device the time counts from the last block of threads that was begun; all blocks have
// `progress_factor` times the limit. A worker may sleep for `sleep_factor` times the limit.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "harness/workers/watchdog.hpp"
#include "harness/workers/work.hpp"

namespace gradverify {

struct TimeLimitOptions {
    /// A thousand times a typical case; covers a slow start of the process too.
    double floor_seconds = 10.0;
    /// On a GPU the process spins in the driver while others use the device, and making a context
    /// takes seconds.
    double cuda_factor = 3.0;
    /// Many times what a case on a large problem may take.
    double large_seconds = 120.0;
};

class TimeLimits {
  public:
    explicit TimeLimits(TimeLimitOptions options) : options_(options) {}

    /// Takes note of how long a case took. The first one of a process opens the device and loads
    /// libraries, which the floor allows for: it lengthens no later limit.
    void completed(const Work& work, const Outcome& outcome, bool is_first_of_process = false);

    /// In all, a trial of shrinking has no more than without a sign of life: a candidate that takes
    /// long is no smaller problem. Says nothing of memory.
    WorkerAllowance allowance(const Work& work, Patience patience) const;
    /// `the slowest case of this run took 0.04 s`.
    std::string history(const Work& work) const;

  private:
    /// The limit without history.
    double parenthesis(const Work& work) const;

    struct History {
        double slowest_seconds = 0.0, largest_share = 0.0;
    };
    using Kind = std::pair<std::string, bool>;  ///< the device, and whether it is large
    static Kind kind_of(const Work& work) { return {work.device, work.is_large}; }

    TimeLimitOptions options_;
    std::map<Kind, History> histories_;
};

}  // namespace gradverify
