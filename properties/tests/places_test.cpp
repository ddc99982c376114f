// SPDX-License-Identifier: Apache-2.0
// Numbers that become places: a kernel that takes another pixel, or other random bits, is found,
// and none is charged for a place that rounding may move.
#include <doctest/doctest.h>

#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

namespace {

constexpr int cases = 400;

/// None is charged, and few are skipped since rounding may move a place.
void check_right(const std::string& kernel, const char* property) {
    const Verdicts verdicts = run_drawn(kernel, property, cases);
    CHECK_MESSAGE(verdicts.first_alarm.empty(), verdicts.first_alarm);
    CHECK(verdicts[Verdict::skipped] < cases / 10);
}

int failures(const std::string& kernel, const char* property) {
    return run_drawn(kernel, property, cases)[Verdict::failed];
}

}  // namespace

TEST_CASE("a value between pixels goes through a jump of its place, its gradient jumps") {
    for (const char* kernel : {"sampled.forward/right", "sampled.forward/from_above"})
        check_right(kernel, "within_rounding_bound");
    for (const char* property : {"within_rounding_bound", "matches_finite_differences"}) {
        check_right("sampled.backward/right", property);
        CHECK(failures("sampled.backward/bug_round", property) > cases / 3);
    }
    CHECK(failures("sampled.forward/bug_round", "within_rounding_bound") > cases / 3);
    check_right("sampled.forward/right", "repeatable");
}

TEST_CASE("where a place lies on a pixel, its gradient is that of either side, and is skipped") {
    // The middle of three pixels is the second one.
    for (const char* property : {"within_rounding_bound", "matches_finite_differences"})
        check_verdict(Verdict::skipped, "sampled.backward/right", property,
                      "width=3,n=1:data=dy[0]=1,image[0]=1,image[1]=2,image[2]=4");
    check_verdict(Verdict::passed, "sampled.backward/right", "within_rounding_bound",
                  "width=3,n=1:data=dy[0]=1,image[0]=1,image[1]=2,image[2]=4,at[0]=0.25");
}

TEST_CASE("the nearest pixel's value jumps") {
    check_right("nearest.forward/right", "within_rounding_bound");
    CHECK(failures("nearest.forward/bug_floor", "within_rounding_bound") > cases / 3);
    for (const char* property : {"within_rounding_bound", "matches_finite_differences"}) {
        check_right("nearest.grad_image/right", property);
        CHECK(failures("nearest.grad_image/bug_floor", property) > cases / 3);
    }
}

TEST_CASE("dropout has curand's bits at any seed, offset and thread, and again in the gradient") {
    check_right("dropout.forward/right", "within_rounding_bound");
    CHECK(failures("dropout.forward/bug_seed_of_32_bits", "within_rounding_bound") > cases / 3);
    for (const char* property : {"within_rounding_bound", "matches_finite_differences"}) {
        check_right("dropout.grad_x/right", property);
        CHECK(failures("dropout.grad_x/bug_next_offset", property) > cases / 3);
    }
}

}  // namespace gradverify
