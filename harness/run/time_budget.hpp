// SPDX-License-Identifier: Apache-2.0
// Decides when a run's time is up, and what of it is left for shrinking.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace gradverify {

class TimeBudget {
  public:
    using Clock = std::chrono::steady_clock;

    /// Begins now; without seconds it never ends.
    explicit TimeBudget(std::optional<double> seconds) : seconds_(seconds) {}

    bool is_up() const { return seconds_ && since_start(Clock::now()) >= *seconds_; }
    /// Also when time is up: rows may be due more cases.
    void case_is_submitted() { last_case_ = Clock::now(); }

    /// When a row's shrinking must let go while other rows still take cases: after a twentieth of
    /// the time, and not before there was enough for a simple bug. There must be an end.
    std::optional<Clock::time_point> first_shrink_deadline() const;

    /// When the shrinking of the next of `waiting` rows must end. Shrinking may go on for a quarter
    /// of the time more, or for a few seconds; the rows share what is left, and each gets enough
    /// for a simple bug. Nothing without an end.
    std::optional<Clock::time_point> shrink_deadline(std::int64_t waiting) const;

  private:
    double since_start(Clock::time_point then) const {
        return std::chrono::duration<double>(then - start_).count();
    }

    std::optional<double> seconds_;
    Clock::time_point start_ = Clock::now(), last_case_ = start_;
};

}  // namespace gradverify
