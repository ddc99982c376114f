// SPDX-License-Identifier: Apache-2.0
#include "properties/large/copy_times.hpp"

#include <doctest/doctest.h>

using gradverify::CopyTimes;

TEST_CASE("a call on more copies takes what each copy takes more, and what every call takes once") {
    CopyTimes times;
    times.add(100, 3.0);
    CHECK(times.seconds_for(200) == 6.0);
    times.add(200, 4.0);
    CHECK(times.seconds_for(600) == 8.0);
    // The first call took long to load.
    times.add(200, 3.5);
    CHECK(times.seconds_for(600) == 5.5);
    // Fewer seconds for more copies are noise.
    times.add(300, 3.0);
    CHECK(times.seconds_for(600) == 3.0);
}
