// SPDX-License-Identifier: Apache-2.0
// Decides how long a case may take before it counts as one that does not end. In seconds of the
// worker's processor time, so that a loaded machine raises no alarm:
//
//   limit = (floor + work * seconds_per_multiply_add) * max(1, factor * r)
//
// with r the largest share of its own parenthesis that a case of this run has taken on the device.
// A case on a large problem, made of copies, has a limit of its own instead of the parenthesis: it
// measures first how long its kernel takes, and is skipped where that is too long. Such cases are
// compared with each other alone, and wait for one another asleep.
// A kernel that gets on is no kernel that hangs: on the CPU device the time counts from the last
// block of threads that was begun, and all of a case's blocks have `progress_factor` times the
// limit. A worker that sleeps takes no processor time; it may sleep for `sleep_factor` times the
// limit.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "harness/cases/outcome.hpp"

namespace gradverify {

/// For a trial of shrinking, a tenth of the limit will do: what it finds is confirmed with all of
/// it.
enum class Patience { full, trial };

struct TimeLimitOptions {
    /// A thousand times a typical case; covers a slow start of the process too.
    double floor_seconds = 10.0;
    /// On a GPU the process spins in the driver while others use the device, and making a context
    /// takes seconds.
    double cuda_factor = 3.0;
    /// Many times what a case on a large problem may take.
    double large_seconds = 120.0;
    /// The work of a printed case in multiply-adds; without it every case has the same limit.
    std::function<double(const std::string& printed_case)> multiply_adds{};
};

class TimeLimits {
  public:
    explicit TimeLimits(TimeLimitOptions options) : options_(std::move(options)) {}

    /// Takes note of how long a case took.
    void completed(const std::string& printed_case, const Outcome& outcome);

    /// Since the last sign of life.
    double cpu_seconds(const std::string& printed_case, Patience patience) const;
    /// Whatever signs of life there are. A trial of shrinking has no more than without: a candidate
    /// that takes long is no smaller problem.
    double cpu_seconds_in_all(const std::string& printed_case, Patience patience) const;
    double sleep_seconds(const std::string& printed_case, Patience patience) const;
    /// `the slowest case of this run took 0.04 s`.
    std::string history(const std::string& printed_case) const;

  private:
    /// The limit without history.
    double allowance(const std::string& printed_case) const;

    struct History {
        double slowest_seconds = 0.0, largest_share = 0.0;
    };
    TimeLimitOptions options_;
    std::map<std::string, History, std::less<>> histories_;  ///< by `history_of`
};

}  // namespace gradverify
