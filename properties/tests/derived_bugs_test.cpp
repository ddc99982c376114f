// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of operators that are declared by their forward function alone: each is killed by the
// property that claims it and shrunk to its smallest problem.
#include <doctest/doctest.h>

#include <string>

#include "properties/tests/seeded_bugs/hunt.hpp"
#include "properties/tests/verdicts.hpp"

namespace gradverify {

// One draw in about a hundred has more than 768 tokens, which one of the bugs needs.
static constexpr std::int64_t cases_maximum = 1500;

TEST_CASE("each seeded bug of a derived operator is killed and shrunk to its smallest problem") {
    hunt_down_all(derived_bugs, {.cases_maximum = cases_maximum});
}

TEST_CASE("a bug of one length in a hundred is found, with one row and one column") {
    const KernelSuite suite(Registry::instance(), {.edge_problems = false});
    const std::string kernel = "embedding.grad_weight/bug_a15_padding_of_many_tokens";
    const Row row = testing::row_named(kernel, "matches_reference");
    for (const std::uint64_t seed : {1, 2}) {
        WorkerPool pool(one_suite_worker());
        const auto failure = first_failure(suite, row, seed, pool, cases_maximum);
        REQUIRE(failure);
        const Shrunk shrunk =
            suite.shrink(failure->found, failure->outcome,
                         [&](const Case& candidate) { return pool.run(candidate); });
        // How close it comes to 769 tokens depends on the time for shrinking.
        const Problem& problem = shrunk.smallest.problem;
        CAPTURE(problem.print());
        CHECK(problem.distance() == problem.scalar("tokens") - 1);
        CHECK(problem.scalar("tokens") <= failure->found.problem.scalar("tokens"));
        CHECK(shrunk.smallest.data.elements.size() == 1);
    }
    testing::check_verdict(Verdict::failed, kernel, "matches_reference", "tokens=769:dense=1");
    testing::check_no_alarm(kernel, "matches_reference", "tokens=768:dense=1");
}

}  // namespace gradverify
