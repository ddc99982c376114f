// SPDX-License-Identifier: Apache-2.0
// Kernels that are wrong in one layout, one dimension, on one side or for one output mask: each is
// killed by the property that claims it and shrunk to the smallest problem known for it.
#include <doctest/doctest.h>

#include <string>

#include "harness/worker_pool.hpp"
#include "properties/seeded_bugs/hunt.hpp"
#include "properties/suite.hpp"
#include "properties/test_support.hpp"

namespace gradverify {

namespace {

constexpr SeededBug bugs[] = {
    // Two channels and two pixels: else both layouts are one.
    {"conv.forward/bug_nhwc_as_nchw", "matches_reference", "c=2,in=2"},
    {"conv.forward/bug_pitch_ignored", "matches_reference", "in=2"},
    {"conv.forward/bug_hwio_as_hwoi", "matches_reference", "k=2,in=1x1"},
    {"conv.forward/bug_depth_by_height", "matches_reference", "in=2x1x1,stride=1x2x1"},
    {"conv.grad_input/bug_right_for_left", "matches_reference", "in=1,padding=0+1"},
    {"conv.grad_bias/bug_expanded_as_dense", "stays_in_bounds", "in=2"},
    {"conv.backward/bug_mask_1_forgets_dx", "matches_reference", "in=1"},
    {"conv.backward/bug_mask_2_writes_dx", "stays_in_bounds", "in=1"},
    {"conv.backward/bug_mask_3_writes_db", "stays_in_bounds", "in=1"},
    {"conv.backward/bug_mask_4_writes_dw", "stays_in_bounds", "in=1"},
    {"conv.backward/bug_mask_5_forgets_db", "matches_reference", "in=1"},
    {"conv.backward/bug_mask_6_forgets_dw", "matches_reference", "in=1"},
    {"conv.backward/bug_mask_7_forgets_db", "matches_reference", "in=1"},
    {"conv_transpose.forward/bug_output_padding_forgotten", "matches_reference",
     "in=1,dilation=2,output_padding=1"},
    {"relayout.forward/bug_tail_of_tile", "stays_in_bounds", "in=1"},
    // Where one of the two axes has one element, both orders are one.
    {"relayout.grad_input/bug_swapped_axes", "matches_reference", "in=2x2"},
    {"relayout_filter.forward/bug_hwio_as_hwoi", "matches_reference", "o=2,i=2,filter=1"},
};

}  // namespace

TEST_CASE(
    "a kernel that is wrong in one layout, dimension or mask is killed where it is smallest") {
    const Suite suite = make_suite(Registry::instance(), {.edge_problems = false});
    for (const std::string& device : test_devices())
        for (const SeededBug& bug : bugs)
            for (const std::uint64_t seed : {1, 2}) {
                CAPTURE(device);
                CAPTURE(std::string(bug.kernel));
                CAPTURE(seed);
                WorkerPool pool(one_suite_worker());
                const auto failure =
                    first_failure(suite, row_of(bug, device).value(), seed, pool, 400);
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

// The sum of an expanded cotangent is all of one sign: 273 ones are no number of bfloat16.
TEST_CASE("long sums of an expanded cotangent are not held to be exact in a narrow type") {
    const Suite suite = make_suite(Registry::instance());
    for (const std::string& device : test_devices())
        for (const char* property : {"adjoint_identity", "matches_reference"}) {
            const Outcome outcome =
                suite.run("v1:conv.backward/direct_bf16:" + std::string(property) + ":" + device +
                          ":n=13,in=1x2,padding=0+2x5+0:dense=6:layout=dy.expand0123");
            CHECK_MESSAGE(outcome.verdict == Verdict::passed, outcome.message);
        }
}

}  // namespace gradverify
