// SPDX-License-Identifier: Apache-2.0
// Which rows a run's globs and devices select.
#include "harness/run/selection.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>

#include "harness/testing/fake_rows.hpp"

using namespace gradverify;
using namespace gradverify::testing;

TEST_CASE("a time is a number of seconds, minutes or hours, of a year at most") {
    for (const auto& [text, seconds] : std::map<std::string, double>{
             {"60", 60.0}, {"60s", 60.0}, {"0.5m", 30.0}, {"2h", 7200.0}, {"8760h", 31536000.0}})
        CHECK(parse_duration(text) == seconds);
    for (const char* text : {"", "s", "0", "-1s", "nan", "1e", "5 m", "5d", "1hh"})
        CHECK(refusal([&] { parse_duration(text); }) ==
              fmt::format("--time {} is not a time such as 60s, 5m or 2h", text));
    for (const char* text : {"8761h", "1e308h", "1e300"})
        CHECK(refusal([&] { parse_duration(text); }) ==
              fmt::format("--time {} is more than a year", text));
}

TEST_CASE("rows are selected by kernel, property and device, where the property applies") {
    Bench bench;
    bench.suite.known = {{"always", "", [](const Kernel&) { return true; }},
                         {"only_small", "",
                          [](const Kernel& kernel) { return kernel.name == "toy.forward/small"; }}};
    const auto select = [&](const std::vector<std::string>& kernels, const std::string& property,
                            const std::vector<std::string>& devices) {
        std::string text;
        for (const Row& row : select_rows(bench.suite, bench.registry, kernels, property, devices))
            text += row.kernel->name + "," + row.property_name() + "," + row.device + " ";
        return text;
    };
    CHECK(select({}, "*", {"cpu", "cuda"}) ==
          "other.forward/any,always,cuda toy.forward/any,always,cpu toy.forward/small,always,cpu "
          "toy.forward/small,only_small,cpu ");
    CHECK(select({"toy.*", "*/small"}, "only_*", {"cpu"}) == "toy.forward/small,only_small,cpu ");
    CHECK(select({"*/any"}, "*", {"cpu"}) == "toy.forward/any,always,cpu ");
    CHECK(select({"other.*"}, "*", {"cpu"}) == "");
    CHECK(select({"toy.forward"}, "*", {"cpu"}) == "");
}
