// SPDX-License-Identifier: Apache-2.0
// Contracts that fused kernels have.
#include <doctest/doctest.h>

#include <string>

#include "harness/run/check_rows.hpp"
#include "properties/tests/seeded_bugs/hunt.hpp"
#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

namespace {

/// The first failure of a row's cases, shrunk and explained.
Shrunk told_of(const char* kernel, const char* property, std::uint64_t seed) {
    const KernelSuite suite(Registry::instance());
    WorkerPool pool(one_suite_worker());
    const CaseRunner runner = [&](const Case& candidate) { return pool.run(candidate); };
    const auto failure = first_failure(suite, row_named(kernel, property), seed, pool, 1000);
    REQUIRE(failure);
    Shrunk shrunk = suite.shrink(failure->found, failure->outcome, runner);
    suite.explain(shrunk, runner);
    return shrunk;
}

}  // namespace

TEST_CASE("cotangents that a gradient does not take are those of a loss, or zero beside others") {
    for (const std::string kernel : {"fused_loss.backward/", "with_scale.backward/"}) {
        const std::string right = kernel.starts_with("fused") ? "fused" : "of_one_output";
        for (const char* property : {"within_rounding_bound", "matches_finite_differences",
                                     "repeatable", "stays_in_bounds", "free_of_races"})
            check_all_agree(kernel + right, property, 60);
        for (const char* property : {"within_rounding_bound", "matches_finite_differences"})
            CHECK(run_drawn(kernel + "bug_twice", property, 20)[Verdict::failed] > 15);
        check_verdict(Verdict::failed, kernel + "bug_twice", "within_rounding_bound",
                      kernel.starts_with("fused") ? "n=1:data=zeros" : "n=1:data=dy[0]=1");
    }
}

TEST_CASE("a function with jumps has values on both sides, and a slope between them") {
    for (const char* property : {"within_rounding_bound", "matches_finite_differences"}) {
        if (property != std::string("matches_finite_differences"))
            check_all_agree("fraction.forward/naive", property, 200);
        check_all_agree("fraction.grad_x/naive", property, 200);
        CHECK(run_drawn("fraction.grad_x/bug_zero", property, 20)[Verdict::failed] > 15);
    }
}

TEST_CASE("rounded stochastically, a result is either neighbour, and none behind them") {
    for (const char* property : {"within_rounding_bound", "repeatable", "stays_in_bounds"})
        check_all_agree("fraction.forward/at_random", property, 100);
    const auto failed = [](const char* kernel) {
        return run_drawn(kernel, "within_rounding_bound", 40)[Verdict::failed];
    };
    CHECK(failed("fraction.forward/bug_undeclared_at_random") > 15);
    CHECK(failed("fraction.forward/bug_behind_random") > 15);
}

TEST_CASE("an integer that overflows and comes right passes, and the checked variant tells it") {
    for (const char* property : {"within_rounding_bound", "repeatable", "stays_in_bounds"})
        check_all_agree("fraction.forward/wraps_back", property, 60);
    check_all_agree("fraction.forward/wraps_back", "free_of_races", 60);
    const auto overflows = [](const char* kernel) {
        return run(kernel, "free_of_races", "n=1:data=x[0]=1.5").overflows;
    };
    CHECK(overflows("fraction.forward/wraps_back").starts_with("int overflow at "));
    CHECK(overflows("fraction.forward/wraps_back")
              .ends_with("contracts/contracts_kernels.cu:21: 46341 * 46341 in block (0, 0, 0), "
                         "thread (0, 0, 0)"));
    // What a case noted is none of the next.
    CHECK(overflows("fraction.forward/naive").empty());
}

TEST_CASE("of a failure it is told which integers overflow, whatever property it breaks") {
    const KernelSuite suite(Registry::instance());
    WorkerPool pool(one_suite_worker());
    const auto rows = {
        row_named("fraction.forward/bug_overflowing_index", "within_rounding_bound"),
        row_named("fraction.forward/bug_overflowing_index", "stays_in_bounds"),
        row_named("fraction.forward/bug_overflowing_index", "free_of_races"),
        row_named("fraction.forward/bug_overflowing_value", "within_rounding_bound")};
    const auto results = check_rows(suite, rows, {.cases = 20, .seed = 3}, pool, {});
    for (const RowResult& result : results) {
        CAPTURE(result.row.property->name);
        CAPTURE(result.message);
        CHECK(result.verdict == Verdict::failed);
        const std::size_t told = result.message.find("; int overflow at ");
        REQUIRE(told != std::string::npos);
        CHECK(result.message.find("int overflow at ", told + 3) == std::string::npos);
    }
    CHECK(results[0].message.ends_with(
        "contracts/contracts_kernels.cu:21: 46341 * 46341 in block (0, 0, 0), "
        "thread (0, 0, 0)"));
}

TEST_CASE("a row counts the passed cases with integers that wrap back") {
    const KernelSuite suite(Registry::instance());
    WorkerPool pool(one_suite_worker());
    const auto rows = {row_named("fraction.forward/wraps_back", "free_of_races"),
                       row_named("fraction.forward/naive", "free_of_races")};
    const auto results = check_rows(suite, rows, {.cases = 20, .seed = 3}, pool, {});
    REQUIRE(results[0].verdict == Verdict::passed);
    REQUIRE(results[0].wrapping);
    CHECK(results[0].passed > 10);
    CHECK(results[0].wrapping->cases == results[0].passed);
    CHECK(results[0].wrapping->overflows.starts_with("int overflow at "));
    CHECK(results[1].verdict == Verdict::passed);
    CHECK_FALSE(results[1].wrapping);
}

TEST_CASE("of two outputs one may be added to, and the other written over") {
    for (const char* property :
         {"matches_reference", "within_rounding_bound", "matches_finite_differences",
          "adjoint_identity", "repeatable", "stays_in_bounds"})
        check_no_alarm("shared_factor.backward/adds_to_dw", property, "n=3:seed=1");
    check_all_agree("shared_factor.backward/adds_to_dw", "matches_reference", 60);
    check_all_agree("shared_factor.backward/adds_to_dw", "repeatable", 60);
    for (const char* wrong : {"bug_overwrites_dw", "bug_adds_to_dx"})
        CHECK(run_drawn(std::string("shared_factor.backward/") + wrong, "matches_reference",
                        20)[Verdict::failed] > 10);
    CHECK(run_drawn("shared_factor.backward/bug_adds_to_dx", "stays_in_bounds",
                    20)[Verdict::failed] > 10);
}

TEST_CASE("a kernel that adds where it should write over is told so, and the reverse") {
    const auto message_of = [](const std::string& kernel, const char* property,
                               const std::string& rest) {
        const Outcome outcome = run(kernel, property, rest);
        CHECK(outcome.verdict == Verdict::failed);
        return outcome.message;
    };
    for (const char* property : {"matches_reference", "stays_in_bounds"}) {
        const std::string adds =
            message_of("shared_factor.backward/bug_adds_to_dx", property, "n=1:data=zeros");
        CAPTURE(adds);
        CHECK(adds.find("; it adds to dx, which may hold anything before the call: write = ") !=
              std::string::npos);
        CHECK(adds.find("dw") == std::string::npos);
    }
    CHECK(message_of("shared_factor.backward/bug_overwrites_dw", "matches_reference",
                     "n=1:data=zeros") ==
          "differs from the reference; it writes over dw, which it declares to add to: write += "
          "instead of =, or take back the declaration");
    // Not all of its elements are written.
    CHECK(message_of("maxpool.grad_input/bug_not_cleared", "matches_reference", "in=3x3:dense=1")
              .find("; it adds to dx, ") != std::string::npos);
    for (const auto& [kernel, problem] :
         {std::pair{"fc.forward/bug_a12_tail_of_tile", "n=1"},
          {"conv.grad_input/bug_a03_remainder_unwritten", "in=1x2,stride=1x2"}})
        CHECK(message_of(kernel, "matches_reference", std::string(problem) + ":dense=1")
                  .find("it adds to") == std::string::npos);
}

TEST_CASE("a kernel that loses NaN is told what the reference does with it, and no other") {
    const auto is_told = [](const char* kernel, const char* property, const char* rest) {
        return run(kernel, property, rest).message.find("; it loses NaN, which the reference ") !=
               std::string::npos;
    };
    CHECK(is_told("relu.forward/bug_loses_nan", "matches_reference", "n=64:dense=7"));
    CHECK(is_told("maxpool.forward/bug_skips_nan", "within_rounding_bound", "in=3x3:dense=7"));
    CHECK_FALSE(is_told("relu.grad_input/bug_mask_from_zero", "matches_reference", "n=64:dense=5"));
    check_no_alarm("relu.forward/naive", "matches_reference", "n=64:dense=7");
}

TEST_CASE("an input that a kernel does not take, and says so, holds zeros") {
    for (const char* property : {"matches_reference", "within_rounding_bound", "repeatable"})
        check_all_agree("shifted.forward/without_b", property, 60);
    check_no_alarm("shifted.forward/without_b", "matches_reference", "n=1:data=x[0]=1,b[0]=1");
    CHECK(run_drawn("shifted.forward/bug_forgets_b", "matches_reference", 20)[Verdict::failed] >
          10);
}

TEST_CASE("what hangs on one value is shrunk to one element, and its values are told") {
    for (const std::uint64_t seed : {1, 2, 3}) {
        const Shrunk shrunk =
            told_of("with_scale.backward/bug_below_minus_14", "within_rounding_bound", seed);
        CAPTURE(shrunk.smallest.print());
        CHECK(shrunk.smallest.problem.print() == "n=1");
        CHECK(shrunk.smallest.data.elements.size() == 2);
        CAPTURE(shrunk.values);
        CHECK(shrunk.values.starts_with("fails where x[0] <= -14"));
    }
}

TEST_CASE("what hangs on an index is certified where indices at their simplest pass, too") {
    for (const std::uint64_t seed : {1, 2, 3}) {
        const Shrunk shrunk = told_of("picked.forward/bug_first_place", "matches_reference", seed);
        CHECK(shrunk.smallest.problem.print() == "n=1");
        CHECK(shrunk.minimal());
        CHECK(shrunk.generality.text ==
              "fails everywhere; data decide there: 2 of 6 draws fail at the smallest problem; n "
              "and w don't matter");
    }
}

}  // namespace gradverify
