// SPDX-License-Identifier: Apache-2.0
// Decides after how many seconds of its worker's processor time a case counts as one without end; a
// loaded machine raises no alarm:
//
//   limit = (floor + work * seconds_per_multiply_add) * max(1, factor * r)
//
// (three tenths of the floor count beside the 1 once cases have shown an r: a hang is told sooner),
// with r the largest share of its own parenthesis that a case of its kernel has taken in this run
// on the device, or that half of the kernels' largest cases have: the machine's pace. Cases on
// large problems, made of copies, have `large_seconds` for the parenthesis and an r of their own:
// they measure first how long the kernel takes, and are skipped where that is too long. On the CPU
// device the time counts from the last block of threads that was begun; all blocks have
// `progress_factor` times the limit. A worker may sleep for `sleep_factor` times the limit.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "harness/workers/watchdog.hpp"
#include "harness/workers/work.hpp"

namespace gradverify {

struct TimeLimitOptions {
    double floor_seconds = 10.0;  ///< a thousand times a typical case, and a slow start
    /// On a GPU making a context takes seconds, and the process spins while others use the device.
    double cuda_factor = 3.0;
    double large_seconds = 120.0;  ///< many times what a case on a large problem takes
};

class TimeLimits {
  public:
    explicit TimeLimits(TimeLimitOptions options) : options_(options) {}

    /// Takes note of how long a case took. The first one of a process also opens the device and
    /// loads libraries, so it lengthens no later limit.
    void completed(const Work& work, const Outcome& outcome, bool is_first_of_process = false);

    /// A trial of it took too long: from now on its kernel's are short, until one that took longer
    /// than these has come to its end.
    void put_off(const Work& work);

    /// Leaves `memory_bytes` alone. A trial of shrinking gets no more time for all its blocks than
    /// for one: a candidate that takes long is no smaller problem.
    /// `opens`: the worker has answered no case, so it opens a GPU too: a trial has three times as
    /// long as that took the slowest before, or all the time of a case while no worker has.
    WorkerAllowance allowance(const Work& work, Patience patience, bool opens = false) const;
    /// Whether a worker has opened the work's device, and answered a case.
    bool was_opened(const Work& work) const;
    /// `the slowest case of its kernel took 0.04 s`.
    std::string history(const Work& work) const;

  private:
    /// The limit without history.
    double parenthesis(const Work& work, double share_of_floor = 1.0) const;

    struct History {
        double slowest_seconds = 0.0, slowest_first = 0.0;
        std::map<const Kernel*, double> largest_shares, slowest_of;
        std::set<const Kernel*> hurried;  ///< a trial was put off
    };
    using Kind = std::pair<std::string, bool>;  ///< the device, and whether it is large
    static Kind kind_of(const Work& work) { return {work.device, work.is_large}; }

    TimeLimitOptions options_;
    std::map<Kind, History> histories_;
};

}  // namespace gradverify
