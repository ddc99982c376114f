// SPDX-License-Identifier: Apache-2.0
#include "harness/run/time_budget.hpp"

#include <algorithm>

namespace gradverify {

namespace {

using Clock = TimeBudget::Clock;

constexpr double overrun_seconds = 5.0, least_seconds = 0.5;

Clock::time_point in_seconds(double seconds) {
    return Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

std::optional<Clock::time_point> TimeBudget::first_shrink_deadline() const {
    return in_seconds(std::max(*seconds_ / 20.0, least_seconds));
}

std::optional<Clock::time_point> TimeBudget::shrink_deadline(std::int64_t waiting) const {
    if (!seconds_) return std::nullopt;
    const double end =
        std::max(*seconds_, since_start(last_case_)) + std::max(overrun_seconds, *seconds_ / 4);
    // A half is for those that are yet to fail.
    const double share = (end - since_start(Clock::now())) / (2.0 + static_cast<double>(waiting));
    return in_seconds(std::max(share, least_seconds));
}

}  // namespace gradverify
