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

TEST_CASE("a limit for all holds") {
    CHECK(seconds_left(TimeBudget(3000.0, 4000.0), 0) == doctest::Approx(2000.0).epsilon(0.05));
    CHECK(seconds_left(TimeBudget(3000.0, 3000.0), 0) == doctest::Approx(1500.0).epsilon(0.05));
}

TEST_CASE("cases that began in time are waited for, and not for ever") {
    CHECK_FALSE(TimeBudget(0.0).is_given_up());
    CHECK(TimeBudget(-15.0).is_given_up());
    // With a limit for all, its caller ends the waits.
    CHECK_FALSE(TimeBudget(-15.0, 1.0).is_given_up());
    CHECK_FALSE(TimeBudget(std::nullopt).is_given_up());
    CHECK(TimeBudget(5.0).seconds_left() == doctest::Approx(5.0).epsilon(0.05));
    CHECK(TimeBudget(std::nullopt).seconds_left() > 1e9);
}

TEST_CASE("while rows take cases a row is shrunk for a twentieth of the time, or half a second") {
    CHECK(seconds_until(TimeBudget(4000.0).first_shrink_deadline()) ==
          doctest::Approx(200.0).epsilon(0.05));
    CHECK(seconds_until(TimeBudget(1.0).first_shrink_deadline()) ==
          doctest::Approx(0.5).epsilon(0.05));
}
