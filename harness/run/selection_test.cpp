// SPDX-License-Identifier: Apache-2.0
// Which rows a run's globs and devices select.
#include "harness/run/selection.hpp"

#include <doctest/doctest.h>

#include "harness/testing/check.hpp"

using namespace gradverify;
using namespace gradverify::testing;

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
