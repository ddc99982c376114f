// SPDX-License-Identifier: Apache-2.0
// Each seeded bug is killed by the property that claims it, without the fixed list of edge
// problems, shrunk to its smallest problem, and fails again from its printed line in another
// process. Takes long; not run under sanitizers.
#include <doctest/doctest.h>

#include "properties/suite/kernel_suite.hpp"
#include "properties/tests/seeded_bugs/hunt.hpp"

namespace gradverify {

TEST_CASE(
    "each seeded bug is killed, shrunk to its smallest problem, and fails again when replayed") {
    hunt_down_all(seeded_bugs, {.begins_above = true});
}

TEST_CASE(
    "whatever the seed, and with or without edge problems, a seeded bug ends at one problem") {
    for (const bool edge_problems : {true, false}) {
        const KernelSuite suite(Registry::instance(), {.edge_problems = edge_problems});
        for (const SeededBug& bug : seeded_bugs)
            for (std::uint64_t seed = 10; seed < 12; ++seed) {
                CAPTURE(edge_problems);
                // Bugs that take long to shrink have their seeds in the docs' table.
                if (bug.certified) hunt_down(suite, bug, "cpu", seed, {.is_replayed = false});
            }
    }
}

}  // namespace gradverify
