// SPDX-License-Identifier: Apache-2.0
#include "harness/report/text/progress.hpp"

#include <doctest/doctest.h>

#include "harness/testing/made_results.hpp"

using gradverify::Progress;

TEST_CASE("progress has a rate and the time that is left, of what ends the run first") {
    CHECK(Progress{.done = 3, .most = 1200, .seconds = 0.5}.print() == "3 of 1,200 cases");
    CHECK(Progress{.done = 100, .seconds = 2.0}.print() == "100 cases, 50 a second");
    CHECK(Progress{.done = 100, .most = 1200, .failed = 1, .seconds = 2.0}.print() ==
          "100 of 1,200 cases, 50 a second, 22 s left, 1 row failed");
    CHECK(Progress{.done = 100, .most = 1200, .failed = 2, .seconds = 2.0, .limit = 12.0}.print() ==
          "100 of 1,200 cases, 50 a second, 10 s left, 2 rows failed");
    CHECK(Progress{.done = 100, .seconds = 20.0, .limit = 12.0}.print() ==
          "100 cases, 5 a second, 0 s left");
    CHECK(Progress{.done = 100, .seconds = 2.0, .limit = 602.0}.print() ==
          "100 cases, 50 a second, 10 min left");
    CHECK(Progress{.done = 0, .most = 9, .seconds = 2.0, .limit = 9002.0}.print() ==
          "0 of 9 cases, 0 a second, 2 h 30 min left");
}

TEST_CASE("a sign of life counts cases and rows, and names what takes longest") {
    using namespace gradverify;
    SignOfLife sign{.seconds = 40.2, .cases = 12345, .rows_with_all = 310, .rows = 2298};
    CHECK(print(sign) == "40 s: 12,345 cases, 310 of 2,298 rows have all of theirs, none failed");
    const RowResult result = testing::result_of("plain", "repeatable", Verdict::passed);
    sign.longest = &result.row;
    sign.longest_seconds = 12.4;
    sign.failed = 2;
    CHECK(print(sign) ==
          "40 s: 12,345 cases, 310 of 2,298 rows have all of theirs, 2 failed; longest now: "
          "toy.forward/plain, repeatable on cpu, 12 s");
    sign.is_shrinking = true;
    CHECK(print(sign).ends_with("; shrinking: toy.forward/plain, repeatable on cpu"));
}
