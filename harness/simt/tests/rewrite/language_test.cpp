// SPDX-License-Identifier: Apache-2.0
// Kernel files have the language level of their target, and the names of their own functions.
#include <doctest/doctest.h>

#include "harness/simt/tests/device_run.hpp"

using Floats = std::vector<float>;

TEST_CASE("a file is compiled at its target's level, and its functions are found by their names") {
    REQUIRE(simt_test::launchers().contains("cpu/language_17"));
    for (const char* variant : {"cpu", "cpu-checked"}) {
        CAPTURE(variant);
        if (!simt_test::launchers().contains(std::string(variant) + "/language_17")) continue;
        CHECK(simt_test::run("language_17", 4, 0, variant) == Floats{123, 6, 5, 2017});
        CHECK(simt_test::run("language_20", 4, 0, variant) == Floats{123, 6, 5, 2020.5});
        CHECK(gradverify::simt::take_error() == "");
    }
}

TEST_CASE("what C++20 takes for itself is a user's in C++17") {
    if (!simt_test::launchers().contains("cpu/only_of_17")) {  // clang's lowest is C++20
        MESSAGE("not run: this compiler has C++20 alone");
        return;
    }
    CHECK(simt_test::run("only_of_17", 1)[0] == 10);
}
