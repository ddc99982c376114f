// SPDX-License-Identifier: Apache-2.0
// Kernels that compute a convolution as products and are wrong in groups, dilation, shares of a
// sum, phases of the stride, chunks of a batch or channel multipliers: each is killed by the
// property that claims it and shrunk to the smallest problem known for it.
#include <doctest/doctest.h>

#include <string>

#include "harness/worker_pool.hpp"
#include "properties/seeded_bugs/hunt.hpp"
#include "properties/suite.hpp"
#include "properties/test_support.hpp"

namespace gradverify {

namespace {

constexpr SeededBug bugs[] = {
    {"conv.forward/bug_first_groups_image", "matches_reference", "c=2,k=2,groups=2,in=1"},
    {"conv.grad_input/bug_group_of_filter", "matches_reference", "c=2,k=4,groups=2,in=1"},
    {"conv.forward/bug_dilation_ignored", "matches_reference",
     "in=1,filter=2,dilation=2,padding=1"},
    {"conv.grad_input/bug_phase_without_dilation", "matches_reference",
     "in=1,filter=2,stride=3,dilation=2,padding=1"},
    {"conv.grad_input/bug_phase_without_padding", "matches_reference", "in=1,padding=1"},
    // The pixel between two that a single tap reaches.
    {"conv.grad_input/bug_phases_by_taps", "matches_reference", "in=2,stride=2"},
    // A share has 64 terms.
    {"conv.grad_weight/bug_last_share_dropped", "matches_reference", "n=6,in=11"},
    {"conv.grad_weight/bug_shares_onto_anything", "matches_reference", "in=1"},
    {"conv.grad_weight/bug_more_shares_than_terms", "matches_reference", "in=1"},
    // A chunk has 4 samples.
    {"conv.forward/bug_remainder_skipped", "matches_reference", "n=5,in=1"},
    {"conv.grad_input/bug_overlaps_overwritten", "matches_reference", "in=1,filter=2,padding=1"},
    {"conv.forward/bug_multiplier_ignored", "matches_reference", "c=2,k=4,groups=2,in=1"},
    {"conv.grad_input/bug_first_of_multiplier", "matches_reference", "k=2,in=1"},
};

}  // namespace

TEST_CASE("a kernel that multiplies wrongly is killed where it is smallest") {
    const Suite suite = make_suite(Registry::instance(), {.edge_problems = false});
    for (const std::string& device : test_devices())
        for (const SeededBug& bug : bugs)
            for (const std::uint64_t seed : {1, 2}) {
                CAPTURE(device);
                CAPTURE(std::string(bug.kernel));
                CAPTURE(seed);
                const Row row = row_of(bug, device).value();
                if (!row.kernel->on(device)) {  // there is no cuBLAS for it
                    CHECK(device == "cuda");
                    continue;
                }
                WorkerPool pool(one_suite_worker());
                const auto failure = first_failure(suite, row, seed, pool, 400);
                REQUIRE(failure);
                const Shrunk shrunk = suite.shrink(
                    failure->found, failure->outcome,
                    [&](const Case& candidate) { return pool.run(candidate.print()); });
                const std::string printed = shrunk.smallest.print();
                CAPTURE(printed);
                CHECK(shrunk.smallest.problem.print() == bug.smallest);
                CHECK(shrunk.minimal());
                WorkerPool other(one_suite_worker());
                CHECK(other.run(printed).verdict == Verdict::failed);
            }
}

}  // namespace gradverify
