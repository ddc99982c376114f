// SPDX-License-Identifier: Apache-2.0
// One file, built into one executable twice: each unit must run its own code on its own variables.
#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "harness/simt/simt.hpp"
#include "harness/simt/tests/launcher.hpp"

namespace {

std::vector<float> run(const char* name) {
    std::vector<float> data(4);
    simt_test::launchers().at(name)({data.data(), 4, 4});
    return data;
}

}  // namespace

TEST_CASE("two units of one file run their own inline functions, statics and templates") {
    gradverify::simt::take_counters();
    // factor + calls of the static + 100 template variable + 1000 inline variable
    CHECK(run("cpu/unit_one") == std::vector<float>(4, 1 + 1 + 100 + 1000));
    CHECK(run("cpu/unit_ten") == std::vector<float>(4, 10 + 10 + 1000 + 10000));
    CHECK(run("cpu/unit_one") == std::vector<float>(4, 1 + 2 + 100 + 2000));
    CHECK(gradverify::simt::take_counters().launches == 3);
    CHECK(gradverify::simt::take_error() == "");
}

TEST_CASE("an exception of a unit's own type is caught outside as std::exception") {
    for (const auto& [name, text] :
         {std::pair{"cpu/unit_one", "unit 1"}, std::pair{"cpu/unit_ten", "unit 10"}}) {
        CHECK_THROWS_WITH_AS(simt_test::launchers().at(name)({nullptr, 0, 0}), text,
                             std::runtime_error);
    }
}
