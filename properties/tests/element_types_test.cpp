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

TEST_CASE("a tensor that is read as another type is an error that says what is right") {
    const Outcome outcome =
        run("conv.grad_weight/bug_f16_read_as_float", "matches_reference", "in=1x1:seed=1");
    CHECK(outcome.verdict == Verdict::failed);
    CHECK(outcome.message.find("the launcher reads a tensor of f16 as f32; write as<__half>(), or "
                               "declare .storage(gradverify::DType::f32)") != std::string::npos);
}

TEST_CASE("a failure of a narrow type is told in its ulps") {
    const std::string printed =
        "v1:conv.grad_weight/bug_f16_through_integer:within_rounding_bound:cpu:in=1x1:"
        "data=dy[0]=1.3330078125,x[0]=1.9990234375";
    const Outcome outcome = KernelSuite(Registry::instance()).run(printed);
    CHECK(outcome.verdict == Verdict::failed);
    REQUIRE(outcome.worst.size() == 1);
    CHECK(outcome.worst[0].dtype == DType::f16);
    const std::string report = report_case(Case::parse(printed, Registry::instance()), outcome);
    CAPTURE(report);
    CHECK(report.find("got 2, want 2.66471386, bound ") != std::string::npos);
    CHECK(report.find(" times the bound, 3.4e+02 ulps of f16)") != std::string::npos);
}

TEST_CASE("listed data are rounded to the tensor's type") {
    check_verdict(Verdict::passed, "conv.forward/naive_f16", "within_rounding_bound",
                  "in=1x1:data=x[0]=0.1,w[0]=0.3");
}

}  // namespace gradverify
