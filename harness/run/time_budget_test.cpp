// SPDX-License-Identifier: Apache-2.0
// What a run's time leaves for shrinking.
#include "harness/run/time_budget.hpp"

#include <doctest/doctest.h>

#include <thread>

using gradverify::TimeBudget;

namespace {

double seconds_until(const std::optional<TimeBudget::Clock::time_point>& deadline) {
    return std::chrono::duration<double>(*deadline - TimeBudget::Clock::now()).count();
}

double seconds_left(const TimeBudget& time, std::int64_t waiting) {
    return seconds_until(time.shrink_deadline(waiting));
}

}  // namespace

TEST_CASE("without seconds there is no end") {
    const TimeBudget time(std::nullopt);
    CHECK_FALSE(time.is_up());
    CHECK_FALSE(time.shrink_deadline(0));
}

TEST_CASE("rows that wait to be shrunk share what is left and a quarter more") {
    const TimeBudget time(4000.0);
    CHECK_FALSE(time.is_up());
    CHECK(seconds_left(time, 0) == doctest::Approx(2500.0).epsilon(0.05));
    CHECK(seconds_left(time, 8) == doctest::Approx(500.0).epsilon(0.05));
    CHECK(seconds_left(time, 1'000'000) == doctest::Approx(0.5).epsilon(0.05));
}

TEST_CASE("what shrinking may take has an end, and no row has a share of it then") {
    const TimeBudget time(0.0, 0.05);
    CHECK_FALSE(time.is_overrun());
    CHECK(seconds_left(time, 1000) > 0.4);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    CHECK(time.is_overrun());
    CHECK(seconds_left(time, 1000) <= 0.0);
    CHECK_FALSE(TimeBudget(0.0).is_overrun());
    CHECK_FALSE(TimeBudget(std::nullopt).is_overrun());
}

TEST_CASE("a limit for all holds, however late the last case began") {
    TimeBudget time(3000.0, 4000.0);
    CHECK(seconds_left(time, 0) == doctest::Approx(2000.0).epsilon(0.05));
    time.case_is_submitted();
    CHECK(seconds_left(TimeBudget(3000.0, 3000.0), 0) == doctest::Approx(1500.0).epsilon(0.05));
}

TEST_CASE("while rows take cases a row is shrunk for a twentieth of the time, or half a second") {
    CHECK(seconds_until(TimeBudget(4000.0).first_shrink_deadline()) ==
          doctest::Approx(200.0).epsilon(0.05));
    CHECK(seconds_until(TimeBudget(1.0).first_shrink_deadline()) ==
          doctest::Approx(0.5).epsilon(0.05));
}

TEST_CASE("cases that are due though the time is up leave as much for shrinking") {
    TimeBudget time(0.0);
    CHECK(time.is_up());
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    const double before = seconds_left(time, 0);
    CHECK(before < 1.9);
    time.case_is_submitted();
    CHECK(seconds_left(time, 0) > before + 0.5);
}
