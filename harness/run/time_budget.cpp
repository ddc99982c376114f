// SPDX-License-Identifier: Apache-2.0
#include "harness/run/time_budget.hpp"

#include <algorithm>

namespace gradverify {

std::optional<TimeBudget::Clock::time_point> TimeBudget::shrink_deadline(
    std::int64_t waiting) const {
    constexpr double overrun_seconds = 5.0, least_seconds = 0.5;
    if (!seconds_) return std::nullopt;
    const Clock::time_point now = Clock::now();
    const double end =
        std::max(*seconds_, since_start(last_case_)) + std::max(overrun_seconds, *seconds_ / 4);
    // A half is for those that are yet to fail.
    const double share = (end - since_start(now)) / (2.0 + static_cast<double>(waiting));
    return now + std::chrono::duration_cast<Clock::duration>(
                     std::chrono::duration<double>(std::max(share, least_seconds)));
}

}  // namespace gradverify
