// SPDX-License-Identifier: Apache-2.0
// Decides when a run's time is up, and what of it is left for shrinking.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace gradverify {

class TimeBudget {
  public:
    using Clock = std::chrono::steady_clock;

    /// Begins now; never ends without seconds. `in_all`: with shrinking (default: a quarter more).
    explicit TimeBudget(std::optional<double> seconds, std::optional<double> in_all = {})
        : seconds_(seconds), in_all_(in_all) {}

    bool is_up() const { return seconds_ && since_start(Clock::now()) >= *seconds_; }
    /// Whether all that shrinking may take has passed as well.
    bool is_overrun() const {
        return seconds_ && since_start(Clock::now()) >= in_all_.value_or(*seconds_ + overrun());
    }
    /// Whether cases that began in time, and still run, are waited for no longer: a hang is told by
    /// then, unless it sleeps. Never with `in_all`, whose caller ends all waits.
    bool is_given_up() const {
        return seconds_ && !in_all_ &&
               since_start(Clock::now()) >= *seconds_ + std::max(patience_seconds, overrun());
    }
    /// Until time is up; without end where it never is.
    double seconds_left() const {
        return seconds_ ? *seconds_ - since_start(Clock::now())
                        : std::numeric_limits<double>::infinity();
    }

    /// When shrinking must pause while other rows still take cases: after a twentieth of the time,
    /// but not before there was enough for a simple bug.
    /// **Ranges** of a budget with seconds.
    std::optional<Clock::time_point> first_shrink_deadline() const {
        return in_seconds(std::max(*seconds_ / 20.0, least_seconds));
    }

    /// When the shrinking of the next of `waiting` rows must end; nothing without seconds. They
    /// share what is left and a quarter more, or a few seconds; each has enough for a simple bug
    /// until that has passed, and nothing then.
    std::optional<Clock::time_point> shrink_deadline(std::int64_t waiting) const {
        if (!seconds_) return std::nullopt;
        const double end = in_all_.value_or(*seconds_ + overrun());
        if (since_start(Clock::now()) >= end) return in_seconds(0.0);
        // Half of it is kept for rows that are yet to fail.
        const double share =
            (end - since_start(Clock::now())) / (2.0 + static_cast<double>(waiting));
        return in_seconds(std::max(share, least_seconds));
    }

  private:
    static constexpr double overrun_seconds = 5.0, least_seconds = 0.5, patience_seconds = 15.0;

    static Clock::time_point in_seconds(double seconds) {
        return Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }
    double overrun() const { return std::max(overrun_seconds, *seconds_ / 4); }
    double since_start(Clock::time_point then) const {
        return std::chrono::duration<double>(then - start_).count();
    }

    std::optional<double> seconds_, in_all_;
    Clock::time_point start_ = Clock::now();
};

}  // namespace gradverify
