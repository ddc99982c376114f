// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/launcher_times.hpp"

#include <doctest/doctest.h>

namespace {

using namespace gradverify;

constexpr double fast = 20e-6, slow = 500e-6, interrupted = 0.1;

/// The number of the first call after which kernel 7 is slow; 0 where none is within 100.
int first_slow(const auto& seconds_of) {
    LauncherTimes times;
    for (int call = 1; call <= 100; ++call) {
        if (times.is_slow(7, seconds_of(call))) return call;
        CHECK_FALSE(times.is_slow(8, fast));
    }
    return 0;
}

}  // namespace

TEST_CASE("a launcher is slow once eight calls were, and not for the loading of its kernel") {
    CHECK(first_slow([](int) { return slow; }) == 9);
    CHECK(first_slow([](int call) { return call == 1 ? interrupted : fast; }) == 0);
    CHECK(first_slow([](int) { return 299e-6; }) == 0);
}

TEST_CASE("one call in four may be interrupted, and one in two that makes a plan may not") {
    CHECK(first_slow([](int call) { return call % 4 == 0 ? interrupted : fast; }) == 0);
    CHECK(first_slow([](int call) { return call % 2 == 0 ? interrupted : fast; }) == 9);
}

TEST_CASE("a launcher becomes slow when its latest calls are") {
    const int first = first_slow([](int call) { return call <= 50 ? fast : slow; });
    CHECK(first > 52);
    CHECK(first <= 58);
}
