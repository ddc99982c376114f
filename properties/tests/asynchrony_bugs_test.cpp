// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of asynchronous copies: each is killed by the property that claims it and shrunk to
// its smallest problem. The same kernel without a bug passes.
#include <doctest/doctest.h>

#include "properties/tests/seeded_bugs/hunt.hpp"
#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

// Their thousands of smaller problems take a minute for some; docs/results/seeded-bugs.md has more
// seeds.
constexpr Hunt of_one_seed{.seeds = 1};

TEST_CASE("a stage that is read or filled too early is found where it is smallest") {
    hunt_down_all(asynchrony_bugs, of_one_seed);
}

TEST_CASE("so is what goes wrong between copies, products and the blocks of a cluster") {
    hunt_down_all(warpgroup_bugs, of_one_seed);
}

TEST_CASE("stages that are filled and read in order pass") {
    for (const char* kernel :
         {"attention.backward/right_two_stages", "attention.backward/right_three_stages"})
        for (const char* property : {"free_of_races", "within_rounding_bound", "repeatable"}) {
            CAPTURE(kernel);
            CAPTURE(property);
            const Verdicts verdicts = run_drawn(kernel, property, 100);
            CHECK(verdicts.first_alarm == "");
            CHECK(verdicts[Verdict::passed] > 80);
        }
}

}  // namespace gradverify
