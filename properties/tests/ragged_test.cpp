// SPDX-License-Identifier: Apache-2.0
// Padded batches: whoever reads padding is found, and a kernel leaves in it what it declares. And
// passes that yield an output with its gradient.
#include <doctest/doctest.h>

#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

namespace {

constexpr int cases = 100;

void check_right(const std::string& kernel) {
    for (const char* property :
         {"matches_reference", "within_rounding_bound", "stays_in_bounds", "repeatable"})
        check_all_agree(kernel, property, cases);
}

/// By each of these properties in so many cases at least.
void check_found(const std::string& kernel, std::initializer_list<const char*> properties,
                 int least) {
    for (const char* property : properties) {
        CAPTURE(kernel);
        CAPTURE(property);
        CHECK(run_drawn(kernel, property, cases)[Verdict::failed] >= least);
    }
}

}  // namespace

TEST_CASE("a kernel may leave zeros in padding, or as it declares nothing or anything") {
    for (const char* kernel : {"running_sum.forward/zeros", "running_sum.forward/leaves",
                               "running_sum.forward/any", "running_sum.grad_x/zeros"})
        check_right(kernel);
    check_all_agree("running_sum.grad_x/zeros", "matches_finite_differences", cases);
    check_all_agree("running_sum.grad_x/zeros", "adjoint_identity", cases);
}

TEST_CASE("padding that is read, or written otherwise than declared, is found") {
    check_found("running_sum.grad_x/bug_reads",
                {"matches_reference", "within_rounding_bound", "matches_finite_differences"},
                cases / 3);
    check_found("running_sum.grad_x/bug_anything", {"matches_reference", "within_rounding_bound"},
                cases / 3);
    check_found("running_sum.forward/bug_unwritten", {"within_rounding_bound", "stays_in_bounds"},
                cases / 3);
    check_found("running_sum.forward/bug_writes", {"within_rounding_bound", "stays_in_bounds"},
                cases / 3);
    const std::string all_unwritten =
        "leaves 2 of 3 elements of y as they were: never written, or added to";
    for (const char* property : {"matches_reference", "within_rounding_bound"})
        CHECK(run("running_sum.forward/bug_unwritten", property,
                  "batch=1,length=3:data=x[0]=2,lengths[0]=1")
                  .message == all_unwritten);
    const Outcome wrote = run("running_sum.forward/bug_writes", "matches_reference",
                              "batch=1,length=3:data=x[0]=2,lengths[0]=1");
    CHECK(wrote.message ==
          "wrote 2 elements of y behind the rows that are used, which stay as they were");
    // The length decides, though the smallest data may leave it at its simplest.
    CHECK(wrote.given ==
          std::vector<GivenNumbers>{{.tensor = "lengths", .first = {1}, .total = 1}});
    CHECK(run("running_sum.forward/zeros", "matches_reference", "batch=2,length=3:seed=1")
              .given.empty());
}

TEST_CASE("an output and the gradient of one call are both verified") {
    for (const char* property :
         {"within_rounding_bound", "matches_finite_differences", "stays_in_bounds", "repeatable"})
        check_all_agree("loss_with_gradient.fused/right", property, cases);
    check_found("loss_with_gradient.fused/bug_gradient",
                {"within_rounding_bound", "matches_finite_differences"}, cases / 2);
    check_found("loss_with_gradient.fused/bug_loss", {"within_rounding_bound"}, cases / 2);
}

TEST_CASE("a kernel that takes a cotangent for contiguous is told once in a while") {
    const KernelSuite suite(Registry::instance());
    const Row row = row_named("running_sum.grad_x/zeros", "within_rounding_bound");
    int told = 0;
    for (int i = 0; i < 400; ++i) {
        const Outcome outcome = suite.run(suite.draw(row, 3, i).drawn.value().print());
        CHECK(outcome.verdict != Verdict::failed);
        if (outcome.contiguous_alone.empty()) continue;
        CHECK(outcome.contiguous_alone == "dy");
        ++told;
    }
    CHECK(told > 10);
    CHECK(told < 100);
}

}  // namespace gradverify
