// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of convolutions in layouts, dimensions, output masks and products, and of operators
// that are declared by their forward function alone: each is killed by the property that claims it
// and shrunk to its smallest problem.
#include <doctest/doctest.h>

#include <string>

#include "properties/tests/seeded_bugs/hunt.hpp"
#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

TEST_CASE(
    "a kernel that is wrong in one layout, dimension or mask is killed where it is smallest") {
    hunt_down_all(layout_bugs, {.cases_maximum = 400});
}

TEST_CASE("a kernel that multiplies wrongly is killed where it is smallest") {
    hunt_down_all(product_bugs, {.cases_maximum = 400});
}

// The sum of an expanded cotangent is all of one sign: 273 ones are no number of bfloat16.
TEST_CASE("long sums of an expanded cotangent are not held to be exact in a narrow type") {
    for (const char* property : {"adjoint_identity", "matches_reference"})
        check_verdict(Verdict::passed, "conv.backward/direct_bf16", property,
                      "n=13,in=1x2,padding=0+2x5+0:dense=6:layout=dy.expand0123");
}

// 65,520 is beyond the largest half.
TEST_CASE("a gradient that overflows its type is not held against its derivative") {
    for (const char* property : {"adjoint_identity", "matches_finite_differences"})
        check_verdict(Verdict::passed, "conv.backward/direct_f16", property,
                      "n=65520,c=3,k=3,groups=3,in=1:seed=11993378:layout=dy.expand012");
}

TEST_CASE("an expanded cotangent is zero only where all of its elements are") {
    const std::string layout = ":layout=dy.expand03";
    check_verdict(Verdict::passed, "conv.grad_weight/direct", "matches_reference",
                  "in=1x2,n=2:data=dy[3]=3,x[0]=2" + layout);
    check_verdict(Verdict::vacuous, "conv.grad_weight/direct", "matches_reference",
                  "in=1x2,n=2:data=x[0]=2" + layout);
}

// One draw in about a hundred has more than 768 tokens, which one of the bugs needs.
static constexpr std::int64_t cases_of_derived = 1500;

TEST_CASE("each seeded bug of a derived operator is killed and shrunk to its smallest problem") {
    hunt_down_all(derived_bugs, {.cases_maximum = cases_of_derived});
}

TEST_CASE("a bug of one length in a hundred is found, with one row and one column") {
    const KernelSuite suite(Registry::instance(), {.edge_problems = false});
    const std::string kernel = "embedding.grad_weight/bug_a15_padding_of_many_tokens";
    const Row row = row_named(kernel, "matches_reference");
    for (const std::uint64_t seed : {1, 2}) {
        WorkerPool pool(one_suite_worker());
        const auto failure = first_failure(suite, row, seed, pool, cases_of_derived);
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
    check_verdict(Verdict::failed, kernel, "matches_reference", "tokens=769:dense=1");
    check_no_alarm(kernel, "matches_reference", "tokens=768:dense=1");
}

}  // namespace gradverify
