// SPDX-License-Identifier: Apache-2.0
// Kernels that are right by another formula than the reference's are not called wrong.
#include <doctest/doctest.h>

#include <string>

#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

TEST_CASE("another formula for the same result is not called wrong") {
    for (const char* kernel : {"batch_norm.forward/folded", "layer_norm.forward/folded",
                               "rewritten_softmax.forward/online_in_base_two",
                               "rewritten_squash.forward/by_exponentials", "conv.forward/winograd"})
        check_all_agree(kernel, "within_rounding_bound", 1000);
}

TEST_CASE("a kernel that transforms its data passes where integers are exact for others") {
    for (const char* property : {"matches_reference", "repeatable", "stays_in_bounds"})
        check_all_agree("conv.forward/winograd", property, 200);
    for (const char* property : {"matches_reference", "within_rounding_bound",
                                 "matches_finite_differences", "adjoint_identity"})
        check_all_agree("conv.grad_input/winograd", property, 200);
}

TEST_CASE("what a transform mixes in from weights that no pixel meets is within its bound") {
    // One pixel, which meets the weights in the middle alone: a zero, and one far below the others.
    check_verdict(Verdict::passed, "conv.forward/winograd", "within_rounding_bound",
                  "k=2,in=1x1,filter=3x3,padding=1x1:data=x[0]=1.1,w[0]=-3.3,w[1]=1.7,w[2]=0.7,"
                  "w[3]=2.9,w[5]=-1.3,w[6]=0.37,w[7]=-0.19,w[8]=5.3,w[13]=0.01");
}

TEST_CASE("adamw's decay may be a factor of the parameter, as of PyTorch's") {
    // The factor 1 - lr decay is rounded, and so is the product.
    for (const char* param : {"-1.097514033317566", "-1024.98974609375"})
        check_verdict(Verdict::passed, "adamw.forward/naive", "within_rounding_bound",
                      std::string("total=1,weight_decay=0.5:data=param[0]=") + param);
}

TEST_CASE("what is wrong by any formula is found") {
    const auto failures_of = [](const std::string& kernel, const char* property) {
        CAPTURE(kernel);
        CAPTURE(property);
        CHECK(run_drawn(kernel, property, 40)[Verdict::failed] > 10);
    };
    for (const char* kernel :
         {"batch_norm.forward/bug_folded_without_gamma",
          "rewritten_softmax.forward/bug_rescaled_in_base_e", "rewritten_squash.forward/bug_cubic",
          "conv.forward/bug_winograd_sign"})
        failures_of(kernel, "within_rounding_bound");
    for (const char* property :
         {"matches_reference", "matches_finite_differences", "adjoint_identity"})
        failures_of("conv.grad_input/bug_winograd_sign", property);
}

TEST_CASE("a transform that is not declared is told how to be") {
    const auto alarm = [](const char* kernel, int cases) {
        return run_drawn(kernel, "within_rounding_bound", cases).first_alarm;
    };
    const std::string undeclared = alarm("conv.forward/bug_undeclared_winograd", 200);
    CAPTURE(undeclared);
    CHECK(undeclared.find(".norm_wise(growth)") != std::string::npos);
    // A large error is not called norm-wise, nor is an unwritten element, which is NaN or huge.
    CHECK(alarm("batch_norm.forward/bug_folded_without_gamma", 10).find("norm_wise") ==
          std::string::npos);
    for (const std::string data : {"dense=1", "dense=2", "dense=3", "dense=4"}) {
        const Outcome outcome = run("conv.grad_input/bug_a03_remainder_unwritten",
                                    "within_rounding_bound", "in=1x2,stride=1x2:" + data);
        CHECK(outcome.verdict == Verdict::failed);
        CHECK(outcome.message.find("norm_wise") == std::string::npos);
    }
}

}  // namespace gradverify
