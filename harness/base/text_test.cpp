// SPDX-License-Identifier: Apache-2.0
#include "harness/base/text.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace gradverify;

TEST_CASE("paths below the current directory are told relative to it, wherever they stand") {
    const std::string here = std::filesystem::current_path().string();
    CHECK(with_relative_paths(here + "/a/k.cu:7: left") == "a/k.cu:7: left");
    CHECK(with_relative_paths("at '" + here + "/k.cu' and " + here + "/b.cu") ==
          "at 'k.cu' and b.cu");
    CHECK(with_relative_paths("/other" + here + "/k.cu") == "/other" + here + "/k.cu");
    CHECK(with_relative_paths(here + "_of_others/k.cu") == here + "_of_others/k.cu");
    CHECK(with_relative_paths("/nowhere/k.cu") == "/nowhere/k.cu");
}
