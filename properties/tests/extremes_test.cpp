// SPDX-License-Identifier: Apache-2.0
// Tiny numbers, and zeros of either sign: a kernel that is wrong on them alone is found, and none
// that is right is charged.
#include <doctest/doctest.h>

#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

static int failures(const std::string& kernel, const char* property, int cases) {
    return run_drawn(kernel, property, cases)[Verdict::failed];
}

TEST_CASE("an epsilon that the operator does not have, and a flush to zero, show on tiny numbers") {
    for (const char* property : {"within_rounding_bound", "matches_finite_differences"}) {
        CAPTURE(property);
        check_all_agree("row_norm.grad_x/right", property, 100);
        CHECK(failures("row_norm.grad_x/bug_epsilon", property, 100) >= 2);
        CHECK(failures("row_norm.grad_x/bug_flushed", property, 100) >= 2);
    }
    // Of the dense cases one has them, so that the failure is reduced to the smallest problem.
    for (const char* kernel : {"row_norm.grad_x/bug_epsilon", "row_norm.grad_x/bug_flushed"})
        check_verdict(Verdict::failed, kernel, "within_rounding_bound", "rows=1,width=2:dense=4");
}

TEST_CASE("a maximum that takes the bits of a negative zero for those of a positive one is found") {
    check_all_agree("row_max.forward/right", "matches_reference", 400);
    CHECK(failures("row_max.forward/bug_sign_of_zero", "matches_reference", 400) >= 10);
    check_verdict(Verdict::failed, "row_max.forward/bug_sign_of_zero", "matches_reference",
                  "rows=1,width=2:data=x[0]=-0,x[1]=-1");
}

}  // namespace gradverify
