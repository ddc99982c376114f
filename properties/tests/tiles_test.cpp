// SPDX-License-Identifier: Apache-2.0
// A tile's offset that is forgotten in inner tiles fails within a default run's cases, whatever the
// seed, though no single size shows it.
#include <doctest/doctest.h>

#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

TEST_CASE("a tile's offset that inner tiles alone forget is seen within a default run's cases") {
    constexpr std::int64_t cases_of_default_run = 1000;
    const KernelSuite suite(Registry::instance());
    for (const auto& [pass, property] :
         {std::pair("fc.forward", "matches_reference"),
          {"fc.grad_weight", "matches_reference"},
          {"conv.forward", "matches_reference"},
          {"layer_norm.backward", "within_rounding_bound"},
          {"softmax_cross_entropy.backward", "within_rounding_bound"},
          {"embedding.forward", "matches_reference"}}) {
        const std::string bug = std::string(pass) + "/bug_inner_tiles",
                          twin = std::string(pass) + "/tiles";
        CAPTURE(bug);
        check_all_agree(twin, property, 40);
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            CAPTURE(seed);
            std::string rest;  // of the case that fails
            for (std::int64_t i = 0; i < cases_of_default_run && rest.empty(); ++i) {
                const Case drawn = suite.draw(row_named(bug, property), seed, i).drawn.value();
                if (suite.run(drawn.print()).verdict != Verdict::failed) continue;
                rest = drawn.print().substr(drawn.print().find(":cpu:") + 5);
            }
            REQUIRE(rest != "");
            check_verdict(Verdict::passed, twin, property, rest);
        }
    }
}

}  // namespace gradverify
