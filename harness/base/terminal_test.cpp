// SPDX-License-Identifier: Apache-2.0
#include "harness/base/terminal.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>

using namespace gradverify;

TEST_CASE("colour is for terminals, unless the environment says otherwise") {
    const int descriptor = open("/dev/null", O_WRONLY);
    for (const char* name : {"NO_COLOR", "FORCE_COLOR"}) unsetenv(name);
    CHECK_FALSE(wants_colour(descriptor));
    setenv("FORCE_COLOR", "", 1);
    CHECK_FALSE(wants_colour(descriptor));
    setenv("FORCE_COLOR", "0", 1);
    CHECK_FALSE(wants_colour(STDOUT_FILENO));
    setenv("FORCE_COLOR", "1", 1);
    CHECK(wants_colour(descriptor));
    setenv("NO_COLOR", "1", 1);
    CHECK_FALSE(wants_colour(descriptor));
    for (const char* name : {"NO_COLOR", "FORCE_COLOR"}) unsetenv(name);
    close(descriptor);
}

TEST_CASE("only a terminal has a width") {
    FILE* const file = std::tmpfile();
    CHECK_FALSE(terminal_width(fileno(file)));
    std::fclose(file);
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    REQUIRE(terminal >= 0);
    for (const auto& [columns, used] : std::map<int, int>{{20, 60}, {80, 80}, {300, 120}}) {
        winsize size{.ws_row = 24, .ws_col = static_cast<unsigned short>(columns)};
        REQUIRE(ioctl(terminal, TIOCSWINSZ, &size) == 0);
        CHECK(terminal_width(terminal) == used);
    }
    close(terminal);
}

TEST_CASE("words that alarm are shown in red, and nothing else is changed") {
    CHECK(with_alarms("") == "");
    CHECK(with_alarms("20 passed") == "20 passed");
    CHECK(with_alarms("FAILED x") == "\033[1;31mFAILED\033[0m x");
    CHECK(with_alarms("a  ERRORED  VACUOUS\n") ==
          "a  \033[1;31mERRORED\033[0m  \033[1;31mVACUOUS\033[0m\n");
    CHECK(with_alarms("IF_FAILED, FAILED_X, FAILEDs") == "IF_FAILED, FAILED_X, FAILEDs");
}
