// SPDX-License-Identifier: Apache-2.0
// One file, built into one executable twice and in each of the cpu device's variants: each unit
// must run its own code on its own variables, and only the checked ones report their accesses.
#include <doctest/doctest.h>

#include <stdexcept>

#include "harness/simt/tests/device_run.hpp"

namespace {

constexpr int elements = 4;

std::vector<float> all(float value) { return std::vector<float>(elements, value); }

std::vector<std::string> variants() {
    std::vector<std::string> found = {"cpu"};
    if (simt_test::launchers().contains("cpu-checked/unit_1")) found.push_back("cpu-checked");
    return found;
}

}  // namespace

TEST_CASE("units of one file run their own inline functions, statics and templates") {
    gradverify::simt::take_accesses_checked();
    for (const std::string& variant : variants()) {
        CAPTURE(variant);
        const auto run_unit = [&](const char* unit) {
            return simt_test::run(unit, elements, 0, variant);
        };
        // factor + calls of the static + 100 template variable + 1000 inline variable
        CHECK(run_unit("unit_1") == all(1 + 1 + 100 + 1000));
        CHECK(run_unit("unit_10") == all(10 + 10 + 1000 + 10000));
        CHECK(run_unit("unit_1") == all(1 + 2 + 100 + 2000));
        CHECK(gradverify::simt::take_error() == "");
        CHECK(gradverify::simt::take_accesses_checked() == (variant == "cpu" ? 0 : 3 * elements));
    }
    CHECK(gradverify::simt::take_findings().empty());
}

TEST_CASE("an exception of a unit's own type is caught outside as std::exception") {
    for (const auto& [name, text] :
         {std::pair{"cpu/unit_1", "unit 1"}, std::pair{"cpu/unit_10", "unit 10"}}) {
        CHECK_THROWS_WITH_AS(simt_test::launchers().at(name)({nullptr, 0, 0}), text,
                             std::runtime_error);
    }
}
