// SPDX-License-Identifier: Apache-2.0
// A gradient that is written by hand says what comes of equal numbers: a kernel that shares among
// them in another way is wrong, and not imprecise.
#include <doctest/doctest.h>

#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

static const char* const within_bound = "within_rounding_bound";

TEST_CASE("a wrong share among equal numbers fails, and the right one is not even imprecise") {
    struct Shared {
        const char *pass, *right;
        std::vector<const char*> wrong;
        const char* at_tie;
    };
    for (const auto& [pass, right, wrong, at_tie] : std::vector<Shared>{
             {"scatter_amax.backward",
              "equal_shares",
              {"bug_halves"},
              "outer=1,rows=1,k=2,inner=1:data=dy[0]=3"},
             {"amax_by_hand.grad_x", "equal_shares", {"bug_full_shares"}, "n=1,c=3:data=dy[0]=3"},
             {"amax_by_hand.grad_x",
              "equal_shares",
              {"bug_full_shares", "bug_256_shares"},
              "n=1,c=257:data=dy[0]=3"},
             {"top_by_hand.grad_x",
              "in_order",
              {"bug_to_first", "bug_shared"},
              "n=1,c=3,k=2:data=dy[0]=3,dy[1]=2"},
             {"top_by_hand.grad_x",
              "in_order",
              {"bug_to_first", "bug_shared"},
              "n=1,c=4,k=4:data=dy[0]=3,dy[1]=2,dy[2]=-1,x[3]=1"},
             {"size_by_hand.grad_x", "zero", {"bug_one"}, "n=2:data=dy[0]=3,dy[1]=1,x[1]=2"},
             {"ramp_right_by_hand.grad_x",
              "zero",
              {"bug_one"},
              "n=2:data=dy[0]=3,dy[1]=1,x[1]=2"}}) {
        const std::string kernel = std::string(pass) + "/";
        const Outcome outcome = run(kernel + right, within_bound, at_tie);
        CHECK_MESSAGE(outcome.verdict == Verdict::passed, kernel << right << ": " << at_tie);
        CHECK_FALSE(outcome.imprecision);
        for (const char* bug : wrong)
            check_verdict(Verdict::failed, kernel + bug, within_bound, at_tie);
    }
}

TEST_CASE("drawn integers find a wrong share of a maximum") {
    const char* exactly = "matches_reference";
    check_all_agree("scatter_amax.backward/equal_shares", exactly, 200);
    CHECK(run_drawn("scatter_amax.backward/bug_halves", exactly, 200)[Verdict::failed] > 0);
    for (const char* kernel : {"scatter_amax.backward/equal_shares", "top_by_hand.grad_x/in_order",
                               "amax_by_hand.grad_x/equal_shares"})
        check_all_agree(kernel, within_bound, 100);
}

TEST_CASE("where any share is a derivative, shares that do not add up fail") {
    for (const char* at_tie : {"n=1,c=3:data=dy[0]=3", "n=2,c=257:data=dy[0]=3,dy[1]=-2"}) {
        check_agrees("amax_derived.grad_x/equal_shares", within_bound, at_tie);
        check_verdict(Verdict::passed, "amax_derived.grad_x/equal_shares",
                      "matches_finite_differences", at_tie);
        check_verdict(Verdict::failed, "amax_derived.grad_x/bug_full_shares",
                      "matches_finite_differences", at_tie);
    }
    check_verdict(Verdict::failed, "amax_derived.grad_x/bug_256_shares",
                  "matches_finite_differences", "n=1,c=257:data=dy[0]=3");
}

}  // namespace gradverify
