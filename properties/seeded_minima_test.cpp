// SPDX-License-Identifier: Apache-2.0
// The tester is tested: each seeded bug is killed by the property that claims it, from the
// generator alone (without the fixed list of small problems), shrunk to the smallest problem known
// for it, whatever it was found at, and fails again from its printed line in another process. Takes
// long; not run under sanitizers.
#include <doctest/doctest.h>

#include <string>

#include "harness/cli_verbs.hpp"
#include "harness/shrink_in_workers.hpp"
#include "harness/worker_pool.hpp"
#include "properties/seeded_bugs/hunt.hpp"
#include "properties/suite.hpp"
#include "properties/test_support.hpp"

namespace gradverify {

namespace {

constexpr std::int64_t cases_maximum = 1000;

}  // namespace

TEST_CASE(
    "each seeded bug is killed, shrunk to its smallest problem, and fails again when replayed") {
    const Suite suite = make_suite(Registry::instance(), {.edge_problems = false});
    for (const std::string& device : test_devices())
        for (const SeededBug& bug : seeded_bugs)
            for (const std::uint64_t seed : {1, 2}) {
                CAPTURE(device);
                CAPTURE(std::string(bug.kernel));
                CAPTURE(std::string(bug.property));
                CAPTURE(seed);
                const auto row = row_of(bug, device);
                if (!row) continue;
                WorkerPool pool(one_suite_worker());
                const auto failure = first_failure(suite, *row, seed, pool, cases_maximum);
                REQUIRE(failure);
                // Found where the problem is larger than the smallest; of one or two parameters
                // any draw may be the smallest.
                if (row->kernel->op->space.parameters().size() > 2)
                    CHECK(failure->found.problem.print() != bug.smallest);
                const Shrunk shrunk = suite.shrink(
                    failure->found, failure->outcome,
                    [&](const Case& candidate) { return pool.run(candidate.print()); });
                CHECK(shrunk.smallest.problem.print() == bug.smallest);
                CHECK(shrunk.minimal() == bug.certified);
                const std::string printed = shrunk.smallest.print();
                CAPTURE(printed);
                WorkerPool other(one_suite_worker());
                CHECK(other.run(printed).verdict == Verdict::failed);
            }
}

TEST_CASE(
    "whatever the seed, and with or without edge problems, a seeded bug ends at one problem") {
    for (const bool edge_problems : {true, false}) {
        const Suite suite = make_suite(Registry::instance(), {.edge_problems = edge_problems});
        for (const SeededBug& bug : seeded_bugs)
            for (std::uint64_t seed = 10; seed < 20; ++seed) {
                CAPTURE(edge_problems);
                CAPTURE(std::string(bug.kernel));
                CAPTURE(std::string(bug.property));
                CAPTURE(seed);
                const auto row = row_of(bug, "cpu");
                // What takes long to shrink has its seeds in the table for the docs.
                if (!row || !bug.certified) continue;
                WorkerPool pool(one_suite_worker());
                const auto failure = first_failure(suite, *row, seed, pool, cases_maximum);
                REQUIRE(failure);
                const Shrunk shrunk = suite.shrink(
                    failure->found, failure->outcome,
                    [&](const Case& candidate) { return pool.run(candidate.print()); });
                CHECK(shrunk.minimal());
                CHECK(shrunk.smallest.problem.print() == bug.smallest);
            }
    }
}

}  // namespace gradverify
