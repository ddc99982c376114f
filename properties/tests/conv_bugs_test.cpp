// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of convolutions in layouts, dimensions, output masks and products: each is killed by
// the property that claims it and shrunk to its smallest problem.
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

}  // namespace gradverify
