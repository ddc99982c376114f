// SPDX-License-Identifier: Apache-2.0
// What strangers' kernels do, and is right, is not called wrong; what is wrong beside it is found.
#include <doctest/doctest.h>

#include <string>

#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

namespace {

constexpr int cases = 200;

void check_is_found(const std::string& kernel, const char* property, const char* message = "") {
    const Verdicts verdicts = run_drawn(kernel, property, cases);
    CAPTURE(kernel);
    CAPTURE(property);
    CAPTURE(verdicts.first_alarm);
    CHECK(verdicts[Verdict::failed] > cases / 50);
    CHECK(verdicts.first_alarm.find(message) != std::string::npos);
}

}  // namespace

TEST_CASE("a gradient that is got from a saved output is not called wrong") {
    for (const char* kernel : {"slabs.backward/from_y", "blend.backward/from_y",
                               "saturation.backward/from_y", "saved_tanh.backward/from_x"})
        for (const char* property :
             {"within_rounding_bound", "matches_finite_differences", "repeatable"})
            check_all_agree(kernel, property, cases);
}

TEST_CASE("a comparison that another formula leaves open has the operator's own branch") {
    for (const char* property : {"within_rounding_bound", "matches_finite_differences"}) {
        const Verdicts verdicts = run_drawn("stopped_slabs.backward/from_y", property, cases);
        CHECK_MESSAGE(verdicts[Verdict::failed] == 0, verdicts.first_alarm);
        CHECK(verdicts[Verdict::passed] > cases / 8);
    }
}

TEST_CASE("what rounding a saved output does not explain is found") {
    for (const char* kernel :
         {"slabs.backward/bug_sum_without_own", "stopped_slabs.backward/bug_sum_without_own",
          "slabs.backward/bug_stops_early", "blend.backward/bug_epsilon",
          "saturation.backward/bug_square", "saved_tanh.backward/bug_factor"})
        check_is_found(kernel, "within_rounding_bound");
}

TEST_CASE("a sum may be in another order where its buffers lie elsewhere") {
    for (const char* kernel :
         {"row_sums.forward/by_address", "row_sums.forward/by_address_in_any_order"})
        for (const char* property : {"stays_in_bounds", "repeatable", "within_rounding_bound"})
            check_all_agree(kernel, property, 2 * cases);
    check_is_found("row_sums.forward/bug_head_left_out", "stays_in_bounds",
                   "an output depends on where the buffers lie");
    check_is_found("row_sums.forward/bug_from_before", "stays_in_bounds");
}

}  // namespace gradverify
