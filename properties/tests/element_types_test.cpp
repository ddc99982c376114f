// SPDX-License-Identifier: Apache-2.0
// Kernels of half, bfloat16 and double that compute in less than they declare: each is killed by
// the property that claims it and shrunk to its smallest problem. Honest declarations pass.
#include <doctest/doctest.h>

#include <string>

#include "properties/tests/seeded_bugs/hunt.hpp"
#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

TEST_CASE("a kernel that computes in less than it declares is killed at its smallest problem") {
    hunt_down_all(element_type_bugs, {.cases_maximum = 200});
}

TEST_CASE("a kernel that declares what it does passes") {
    for (const char* kernel :
         {"conv.grad_weight/right_f16_sums_in_half", "conv.grad_weight/right_f64_sums_in_float"})
        for (const char* property : {"matches_reference", "within_rounding_bound",
                                     "matches_finite_differences", "adjoint_identity"}) {
            CAPTURE(kernel);
            CAPTURE(property);
            const Verdicts verdicts = run_drawn(kernel, property, 300);
            CHECK(verdicts.first_alarm == "");
            CHECK(verdicts[Verdict::passed] > 200);
        }
}

TEST_CASE("listed data are rounded to the tensor's type") {
    check_verdict(Verdict::passed, "conv.forward/naive_f16", "within_rounding_bound",
                  "in=1x1:data=x[0]=0.1,w[0]=0.3");
}

}  // namespace gradverify
