// SPDX-License-Identifier: Apache-2.0
// Passes of second order and of the forward mode: right kernels pass, and a forgotten term, factor
// or tangent is found at a small problem.
#include <doctest/doctest.h>

#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

namespace {

constexpr int cases = 60;

const std::string bound = "within_rounding_bound", differences = "matches_finite_differences",
                  adjoint = "adjoint_identity", reference = "matches_reference";

void check_right(const std::string& kernel, std::initializer_list<std::string> properties) {
    for (const std::string& property : properties) check_all_agree(kernel, property, cases);
}

/// In many cases of each property, some of which compare zeros alone, and on the smallest problem
/// where it can show.
void check_found(const std::string& kernel, const std::string& smallest,
                 std::initializer_list<std::string> properties) {
    for (const std::string& property : properties) {
        CAPTURE(kernel);
        CAPTURE(property);
        CHECK(run_drawn(kernel, property, cases)[Verdict::failed] >= cases / 3);
        const KernelSuite suite(Registry::instance());
        const Row row = row_named(kernel, property);
        const Problem problem = Problem::parse(row.kernel->op->space, smallest);
        int failed = 0;
        for (std::int64_t i = 0; i < 20; ++i)
            failed +=
                suite.run(suite.draw_on(row, 1, i, problem).print()).verdict == Verdict::failed;
        CHECK(failed > 0);
    }
}

}  // namespace

TEST_CASE("right kernels of second order pass all properties of values") {
    check_right("swiglu.backward.grad_x/right_by_element", {bound, differences});
    check_right("swiglu.backward.grad_dy/right_by_element", {bound, differences});
    check_right("layer_norm.backward.grad_x/right_by_row", {bound, differences});
    check_right("weighted.backward.grad_x/right", {reference, bound, differences});
}

TEST_CASE("right kernels of the forward mode are adjoints of gradient kernels, too") {
    check_right("swiglu.forward.jvp/right_by_element", {bound, differences, adjoint});
    check_right("layer_norm.forward.jvp/right_by_row", {bound, differences, adjoint});
    check_right("weighted.forward.jvp/right", {reference, bound, differences, adjoint});
}

TEST_CASE("a forgotten term or factor of a gradient's gradient is found") {
    check_found("swiglu.backward.grad_x/bug_no_slope_of_ddb", "rows=1", {bound, differences});
    check_found("swiglu.backward.grad_x/bug_no_factor", "rows=1", {bound, differences});
    check_found("swiglu.backward.grad_x/bug_other_half", "rows=1", {bound, differences});
    check_found("swiglu.backward.grad_dy/bug_no_tb", "rows=1", {bound, differences});
    check_found("layer_norm.backward.grad_x/bug_one_of_three", "rows=1,width=2",
                {bound, differences});
    // Two numbers less their mean are a multiple of xhat, which is taken from them, too.
    check_found("layer_norm.backward.grad_x/bug_no_ddgamma", "rows=1,width=3",
                {bound, differences});
}

TEST_CASE("a gradient's gradient that is not written shows on two rows") {
    check_found("weighted.backward.grad_x/bug_last_row", "rows=2", {reference, bound});
}

TEST_CASE("a forgotten tangent is found by each property of the forward mode") {
    check_found("swiglu.forward.jvp/bug_no_tb", "rows=1", {bound, differences, adjoint});
    check_found("layer_norm.forward.jvp/bug_no_tangent_of_mean", "rows=1",
                {bound, differences, adjoint});
    check_found("layer_norm.forward.jvp/bug_no_tangent_of_rstd", "rows=1,width=2",
                {bound, differences, adjoint});
    check_found("weighted.forward.jvp/bug_half", "rows=1", {reference, bound, adjoint});
}

TEST_CASE("a report names what a tangent is not") {
    const std::string data = "rows=1:data=w[0]=2,x[0]=3,tx[0]=1,tw[0]=1";
    CHECK(run("weighted.forward.jvp/right", adjoint, data).verdict == Verdict::passed);
    CHECK(run("weighted.forward.jvp/bug_half", adjoint, data)
              .message.starts_with("is not the adjoint of the gradient kernels: <dy, J t> differs "
                                   "from <J^T dy, t>"));
    CHECK(run("weighted.forward.jvp/bug_half", differences, data)
              .message.starts_with(
                  "is not the derivative of the forward function along the tangents"));
}

}  // namespace gradverify
