// SPDX-License-Identifier: Apache-2.0
#include "harness/report/text/progress.hpp"

#include <doctest/doctest.h>

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
