// SPDX-License-Identifier: Apache-2.0
// Kernels of half, bfloat16 and double that compute in less than they declare: each is killed by
// the property that claims it and shrunk to the smallest problem known for it; those that declare
// what they do pass.
#include <doctest/doctest.h>

#include <string>

#include "harness/report.hpp"
#include "harness/worker_pool.hpp"
#include "properties/seeded_bugs/hunt.hpp"
#include "properties/suite.hpp"
#include "properties/test_support.hpp"

namespace gradverify {

namespace {

// One product is rounded as the result is; a second one is needed for what is rounded between.
constexpr SeededBug bugs[] = {
    {"conv.grad_weight/bug_f16_sums_in_half", "within_rounding_bound", "in=1x2"},
    {"conv.grad_weight/bug_f16_rounds_products", "within_rounding_bound", "in=1x2"},
    {"conv.grad_weight/bug_f16_through_integer", "within_rounding_bound", "in=1x1"},
    {"conv.grad_weight/bug_f16_taken_for_bf16", "matches_reference", "in=1x1"},
    {"conv.grad_weight/bug_f16_taken_for_bf16", "adjoint_identity", "in=1x1"},
    {"conv.grad_weight/bug_f16_taken_for_bf16", "matches_finite_differences", "in=1x1"},
    {"conv.grad_weight/bug_bf16_truncates", "within_rounding_bound", "in=1x1"},
    {"conv.grad_weight/bug_f64_sums_in_float", "within_rounding_bound", "in=1x1"},
    {"conv.forward/bug_f16_bias_added_to_half", "within_rounding_bound", "in=1x1"},
    {"layer_norm.forward/bug_bf16_rounded_mean", "within_rounding_bound", "rows=1,width=2"},
    // In one column dgamma is 0, and dbeta of two rows is rounded once.
    {"layer_norm.backward/bug_bf16_sums_in_outputs", "within_rounding_bound", "rows=2,width=2"},
};

}  // namespace

TEST_CASE("a kernel that computes in less than it declares is killed at its smallest problem") {
    const Suite suite = make_suite(Registry::instance(), {.edge_problems = false});
    for (const std::string& device : test_devices())
        for (const SeededBug& bug : bugs)
            for (const std::uint64_t seed : {1, 2}) {
                CAPTURE(device);
                CAPTURE(std::string(bug.kernel));
                CAPTURE(std::string(bug.property));
                CAPTURE(seed);
                WorkerPool pool(one_suite_worker());
                const auto failure =
                    first_failure(suite, row_of(bug, device).value(), seed, pool, 200);
                REQUIRE(failure);
                const Shrunk shrunk = suite.shrink(
                    failure->found, failure->outcome,
                    [&](const Case& candidate) { return pool.run(candidate.print()); });
                const std::string printed = shrunk.smallest.print();
                CAPTURE(printed);
                CHECK(shrunk.smallest.problem.print() == bug.smallest);
                CHECK(shrunk.minimal());
                WorkerPool other(one_suite_worker());
                CHECK(other.run(printed).verdict == Verdict::failed);
            }
}

TEST_CASE("a kernel that declares what it does passes") {
    const Suite suite = make_suite(Registry::instance());
    for (const char* kernel :
         {"conv.grad_weight/right_f16_sums_in_half", "conv.grad_weight/right_f64_sums_in_float"})
        for (const char* property : {"matches_reference", "within_rounding_bound",
                                     "matches_finite_differences", "adjoint_identity"}) {
            CAPTURE(kernel);
            CAPTURE(property);
            const Row row{Registry::instance().find_kernel(kernel), property, "cpu"};
            int passed = 0;
            for (std::int64_t i = 0; i < 300; ++i) {
                const Outcome outcome = suite.run(suite.draw(row, 1, i).drawn.value().print());
                CAPTURE(outcome.message);
                CHECK(outcome.verdict != Verdict::failed);
                CHECK(outcome.verdict != Verdict::errored);
                passed += outcome.verdict == Verdict::passed;
            }
            CHECK(passed > 200);
        }
}

TEST_CASE("a tensor that is read as another type is an error that says what is right") {
    const Suite suite = make_suite(Registry::instance());
    const Outcome outcome =
        suite.run("v1:conv.grad_weight/bug_f16_read_as_float:matches_reference:cpu:in=1x1:seed=1");
    CHECK(outcome.verdict == Verdict::failed);
    CHECK(outcome.message.find("the launcher reads a tensor of f16 as f32; write as<__half>(), or "
                               "declare .storage(gradverify::DType::f32)") != std::string::npos);
}

TEST_CASE("a failure of a narrow type is told in its ulps") {
    const Suite suite = make_suite(Registry::instance());
    const std::string printed =
        "v1:conv.grad_weight/bug_f16_through_integer:within_rounding_bound:cpu:in=1x1:"
        "data=dy[0]=1.3330078125,x[0]=1.9990234375";
    const Outcome outcome = suite.run(printed);
    CHECK(outcome.verdict == Verdict::failed);
    REQUIRE(outcome.worst.size() == 1);
    CHECK(outcome.worst[0].dtype == DType::f16);
    const std::string report = report_case(Case::parse(printed, Registry::instance()), outcome);
    CAPTURE(report);
    CHECK(report.find("got 2, want 2.66471386, bound ") != std::string::npos);
    CHECK(report.find(" times the bound, 3.4e+02 ulps of f16)") != std::string::npos);
}

TEST_CASE("listed data are rounded to the tensor's type, and refused beyond its largest number") {
    const Suite suite = make_suite(Registry::instance());
    const std::string row = "v1:conv.forward/naive_f16:within_rounding_bound:cpu:in=1x1:data=";
    CHECK(suite.run(row + "x[0]=0.1,w[0]=0.3").verdict == Verdict::passed);
    CHECK_THROWS_WITH_AS(suite.run(row + "x[0]=65520,w[0]=1"),
                         "data: x[0] is beyond the largest f16", std::invalid_argument);
}

}  // namespace gradverify
