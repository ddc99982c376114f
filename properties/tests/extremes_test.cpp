// SPDX-License-Identifier: Apache-2.0
// Tiny and huge numbers, zeros of either sign, and numbers of which a formula loses all digits: a
// kernel that is wrong on them alone is found, and none that is right is charged.
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
        CHECK(failures("row_norm.grad_x/bug_epsilon", property, 200) >= 2);
        CHECK(failures("row_norm.grad_x/bug_flushed", property, 200) >= 2);
    }
    // Of the dense cases one has them, so that the failure is reduced to the smallest problem.
    for (const char* kernel : {"row_norm.grad_x/bug_epsilon", "row_norm.grad_x/bug_flushed"})
        check_verdict(Verdict::failed, kernel, "within_rounding_bound", "rows=1,width=2:dense=4");
}

TEST_CASE("a product that overflows on the way to a number shows on huge numbers") {
    for (const char* pass :
         {"scaled_norm", "geometric_mean", "log_of_product", "share_of_square"}) {
        const std::string kernel = std::string(pass) + ".forward/";
        CAPTURE(kernel);
        check_all_agree(kernel + "right", "within_rounding_bound", 400);
        CHECK(failures(kernel + "bug_overflow", "within_rounding_bound", 1000) >= 2);
    }
}

TEST_CASE("a maximum that takes the bits of a negative zero for those of a positive one is found") {
    check_all_agree("row_max.forward/right", "matches_reference", 400);
    CHECK(failures("row_max.forward/bug_sign_of_zero", "matches_reference", 400) >= 10);
    check_verdict(Verdict::failed, "row_max.forward/bug_sign_of_zero", "matches_reference",
                  "rows=1,width=2:data=x[0]=-0,x[1]=-1");
}

TEST_CASE("where nothing bounds a result, what is no number fails nevertheless") {
    const char* bound = "within_rounding_bound";
    for (const auto& [pass, bug] : {std::pair("root_of_rest.grad_x", "bug_no_number"),
                                    std::pair("log_of_rest.forward", "bug_infinite"),
                                    std::pair("inverse_of_rest.forward", "bug_infinite"),
                                    std::pair("there_and_back.forward", "bug_no_number")}) {
        const std::string kernel = std::string(pass) + "/";
        CAPTURE(kernel);
        check_all_agree(kernel + "right", bound, 100);
        CHECK(failures(kernel + bug, bound, 100) >= 20);
    }
    check_all_agree("root_of_rest.grad_x/right", "matches_finite_differences", 100);
    CHECK(failures("root_of_rest.grad_x/bug_no_number", "matches_finite_differences", 100) >= 20);
}

TEST_CASE("where nothing bounds a result, that is told, and a case with nothing else is vacuous") {
    const Outcome outcome = run("root_of_rest.grad_x/right", "within_rounding_bound",
                                "n=4:data=dy[0]=1,dy[1]=1,dy[2]=1,x[0]=1,x[1]=18,x[2]=20,x[3]=2");
    CHECK(outcome.verdict == Verdict::passed);
    REQUIRE(outcome.uncompared);
    CHECK(outcome.uncompared->print() ==
          "in 50 % of the elements nothing could be compared: their bounds are infinite, from x[1] "
          "= 18 on");
    CHECK(outcome.values.least == 1.0);
    CHECK(outcome.values.greatest == 20.0);
    check_verdict(Verdict::vacuous, "root_of_rest.grad_x/right", "within_rounding_bound",
                  "n=1:data=dy[0]=1,x[0]=18");
}

TEST_CASE("a result that has lost half of its digits is wrong, unless they are the last of 1") {
    const char* bound = "within_rounding_bound";
    for (const auto& [kernel, x] : {std::pair("root_of_rest.grad_x", "dy[0]=3,x[0]=13.25"),
                                    std::pair("log_of_rest.forward", "x[0]=14.25"),
                                    std::pair("there_and_back.forward", "x[0]=7.015625")}) {
        const std::string rest = std::string("n=1:data=") + x;
        check_verdict(Verdict::passed, std::string(kernel) + "/right", bound, rest);
        check_verdict(Verdict::failed, std::string(kernel) + "/bug_third", bound, rest);
    }
    check_all_agree("rest_times_exp.forward/right", bound, 100);
    check_verdict(Verdict::failed, "rest_times_exp.forward/bug_3_percent", bound,
                  "n=1:data=x[0]=10.25");
    // log(1 + exp(-17)) has lost all of its digits.
    const Outcome soft = run("soft.forward/log_of_sum", bound, "n=2:data=x[0]=-17,x[1]=2");
    CHECK(soft.verdict == Verdict::passed);
    CHECK(soft.imprecision);
}

}  // namespace gradverify
