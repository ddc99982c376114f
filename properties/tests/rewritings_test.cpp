// SPDX-License-Identifier: Apache-2.0
// Kernels that are right by another formula than the reference's: none is called wrong, and what no
// formula excuses is found beside each.
#include <doctest/doctest.h>

#include <string>

#include "harness/report/failure.hpp"
#include "properties/properties.hpp"
#include "properties/suite/suite.hpp"

namespace gradverify {

namespace {

struct Verdicts {
    int passed = 0, failed = 0, other = 0;
    std::string message;  ///< of the first that is not passed
};

Verdicts run_many(const std::string& kernel, const std::string& property, int cases) {
    const KernelSuite suite(Registry::instance());
    const Row row{Registry::instance().find_kernel(kernel), find_property(property), "cpu"};
    Verdicts verdicts;
    for (std::int64_t i = 0; i < cases; ++i) {
        const Case drawn = suite.draw(row, 3, i).drawn.value();
        const Outcome outcome = suite.run(drawn.print());
        const bool is_other =
            outcome.verdict == Verdict::skipped || outcome.verdict == Verdict::errored;
        ++(outcome.verdict == Verdict::failed ? verdicts.failed
           : is_other                         ? verdicts.other
                                              : verdicts.passed);
        if ((is_other || outcome.verdict == Verdict::failed) && verdicts.message.empty())
            verdicts.message = report_case(drawn, outcome);
    }
    return verdicts;
}

}  // namespace

TEST_CASE("another formula for the same result is not called wrong") {
    for (const char* kernel :
         {"batch_norm.forward/folded", "layer_norm.forward/folded",
          "rewritten_softmax.forward/online_in_base_two",
          "rewritten_squash.forward/by_exponentials", "conv.forward/winograd"}) {
        const Verdicts verdicts = run_many(kernel, "within_rounding_bound", 1000);
        CAPTURE(verdicts.message);
        CHECK(verdicts.passed == 1000);
    }
}

TEST_CASE("a kernel that transforms its data passes where integers are exact for others") {
    const auto check_passed = [](const char* kernel, const char* property) {
        const Verdicts verdicts = run_many(kernel, property, 200);
        CAPTURE(kernel);
        CAPTURE(property);
        CAPTURE(verdicts.message);
        CHECK(verdicts.passed == 200);
    };
    for (const char* property : {"matches_reference", "repeatable", "stays_in_bounds"})
        check_passed("conv.forward/winograd", property);
    for (const char* property : {"matches_reference", "within_rounding_bound",
                                 "matches_finite_differences", "adjoint_identity"})
        check_passed("conv.grad_input/winograd", property);
}

TEST_CASE("what a transform mixes in from weights that no pixel meets is within its bound") {
    // One pixel, which meets the weights in the middle alone: a zero, and one far below the others.
    const KernelSuite suite(Registry::instance());
    const Outcome outcome = suite.run(
        "v1:conv.forward/winograd:within_rounding_bound:cpu:"
        "k=2,in=1x1,filter=3x3,padding=1x1:data=x[0]=1.1,w[0]=-3.3,w[1]=1.7,w[2]=0.7,w[3]=2.9,"
        "w[5]=-1.3,w[6]=0.37,w[7]=-0.19,w[8]=5.3,w[13]=0.01");
    CAPTURE(outcome.message);
    CHECK(outcome.verdict == Verdict::passed);
}

TEST_CASE("what is wrong by any formula is found") {
    for (const std::string kernel :
         {"batch_norm.forward/bug_folded_without_gamma",
          "rewritten_softmax.forward/bug_rescaled_in_base_e", "rewritten_squash.forward/bug_cubic",
          "conv.forward/bug_winograd_sign"}) {
        CAPTURE(kernel);
        CHECK(run_many(kernel, "within_rounding_bound", 40).failed > 10);
    }
    for (const char* property :
         {"matches_reference", "matches_finite_differences", "adjoint_identity"}) {
        CAPTURE(property);
        CHECK(run_many("conv.grad_input/bug_winograd_sign", property, 40).failed > 10);
    }
}

TEST_CASE("a transform that is not declared is told how to be") {
    const Verdicts verdicts =
        run_many("conv.forward/bug_undeclared_winograd", "within_rounding_bound", 200);
    CHECK(verdicts.failed > 0);
    CAPTURE(verdicts.message);
    CHECK(verdicts.message.find(".norm_wise(growth)") != std::string::npos);
    // What is wrong by far is not.
    const Verdicts wrong =
        run_many("batch_norm.forward/bug_folded_without_gamma", "within_rounding_bound", 10);
    CHECK(wrong.message.find("norm_wise") == std::string::npos);
    // Nor is what was not written: an element that is NaN, or huge.
    const KernelSuite suite(Registry::instance());
    for (const char* data : {"dense=1", "dense=2", "dense=3", "dense=4"}) {
        const Outcome outcome = suite.run(
            std::string("v1:conv.grad_input/bug_a03_remainder_unwritten:within_rounding_bound:"
                        "cpu:in=1x2,stride=1x2:") +
            data);
        CHECK(outcome.verdict == Verdict::failed);
        CHECK(outcome.message.find("norm_wise") == std::string::npos);
    }
}

}  // namespace gradverify
