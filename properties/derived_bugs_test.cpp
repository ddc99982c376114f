// SPDX-License-Identifier: Apache-2.0
// The seeded bugs of the operators that are declared by their forward function alone: each is
// killed by the property that claims it, from the generator alone, and shrunk to the smallest
// problem known for it, with data that a person reads.
#include <doctest/doctest.h>

#include <string>

#include "harness/worker_pool.hpp"
#include "properties/suite.hpp"
#include "properties/test_support.hpp"

namespace gradverify {

namespace {

struct DerivedBug {
    const char* kernel;
    const char* property;
    const char* smallest;
};

constexpr DerivedBug bugs[] = {
    {"bias_gelu.forward/bug_tanh_form", "within_rounding_bound", "rows=1"},
    {"bias_gelu.forward/bug_bias_by_row", "within_rounding_bound", "rows=1,width=2"},
    {"bias_gelu.backward/bug_no_density", "within_rounding_bound", "rows=1"},
    {"bias_gelu.backward/bug_no_density", "matches_finite_differences", "rows=1"},
    {"bias_gelu.backward/bug_ignores_mask", "stays_in_bounds", "rows=1"},
    {"bias_gelu.backward/bug_dx_before_dbias", "within_rounding_bound", "rows=1"},
    {"layer_norm.forward/bug_a14_difference_of_squares", "within_rounding_bound", "rows=1,width=2"},
    {"layer_norm.forward/bug_eps_outside_root", "within_rounding_bound", "rows=1"},
    {"layer_norm.backward/bug_no_mean_of_g", "matches_finite_differences", "rows=1"},
    {"layer_norm.backward/bug_no_gamma", "within_rounding_bound", "rows=1,width=2,eps=0.1"},
    {"layer_norm.backward/bug_first_row_only", "within_rounding_bound", "rows=2"},
    {"embedding.forward/bug_padding_looked_up", "matches_reference", "tokens=1"},
    {"embedding.grad_weight/bug_no_atomics", "free_of_races", "tokens=2,padding=1"},
    {"embedding.grad_weight/bug_not_cleared", "stays_in_bounds", "tokens=1"},
    {"batch_norm.forward/bug_unbiased_rstd", "within_rounding_bound", "n=1,pixels=2"},
    {"batch_norm.forward/bug_biased_running_var", "within_rounding_bound", "n=1,pixels=2"},
    {"batch_norm.forward/bug_momentum_swapped", "within_rounding_bound", "n=1"},
    {"batch_norm.backward/bug_mean_per_image", "matches_finite_differences", "n=2"},
};

struct Found {
    Case found;
    Outcome outcome;
};

/// The first failing case of a row.
Found first_failure(const Suite& suite, const Row& row, std::uint64_t seed, WorkerPool& pool) {
    // One draw in about a hundred has more than 768 tokens, which one of the bugs needs.
    constexpr std::int64_t cases_maximum = 1500;
    for (std::int64_t i = 0; i < cases_maximum; ++i) {
        const auto drawn = suite.draw(row, seed, i).drawn;
        REQUIRE(drawn);
        Outcome outcome = pool.run(drawn->print());
        CAPTURE(outcome.message);
        REQUIRE(outcome.verdict != Verdict::errored);
        if (outcome.verdict == Verdict::failed) return {*drawn, std::move(outcome)};
    }
    FAIL("no case failed");
    return {suite.draw(row, seed, 0).drawn.value(), {}};
}

WorkerPoolOptions one_worker() { return {.command = suite_worker_command(), .jobs = 1}; }

}  // namespace

TEST_CASE("each seeded bug of a derived operator is killed and shrunk to its smallest problem") {
    const Suite suite = make_suite(Registry::instance(), {.edge_problems = false});
    for (const std::string& device : test_devices())
        for (const DerivedBug& bug : bugs)
            for (const std::uint64_t seed : {1, 2}) {
                if (bug.property == std::string("free_of_races") && device != "cpu") continue;
                CAPTURE(device);
                CAPTURE(std::string(bug.kernel));
                CAPTURE(std::string(bug.property));
                CAPTURE(seed);
                const Row row{Registry::instance().find_kernel(bug.kernel), bug.property, device};
                REQUIRE(row.kernel);
                WorkerPool pool(one_worker());
                const auto [found, outcome] = first_failure(suite, row, seed, pool);
                const Shrunk shrunk = suite.shrink(found, outcome, [&](const Case& candidate) {
                    return pool.run(candidate.print());
                });
                const std::string printed = shrunk.smallest.print();
                CAPTURE(printed);
                CHECK(shrunk.smallest.problem.print() == bug.smallest);
                CHECK(shrunk.minimal());
                WorkerPool other(one_worker());
                CHECK(other.run(printed).verdict == Verdict::failed);
            }
}

TEST_CASE("a bug of one length in a hundred is found, with one row and one column") {
    const Suite suite = make_suite(Registry::instance(), {.edge_problems = false});
    const std::string kernel = "embedding.grad_weight/bug_a15_padding_of_many_tokens";
    const Row row{Registry::instance().find_kernel(kernel), "matches_reference", "cpu"};
    for (const std::uint64_t seed : {1, 2}) {
        WorkerPool pool(one_worker());
        const auto [found, outcome] = first_failure(suite, row, seed, pool);
        const Shrunk shrunk = suite.shrink(
            found, outcome, [&](const Case& candidate) { return pool.run(candidate.print()); });
        // How near to 769 tokens it comes depends on the seconds that shrinking has.
        const Problem& problem = shrunk.smallest.problem;
        CAPTURE(problem.print());
        CHECK(problem.distance() == problem.scalar("tokens") - 1);
        CHECK(problem.scalar("tokens") <= found.problem.scalar("tokens"));
        CHECK(shrunk.smallest.data.elements.size() == 1);
    }
    const auto verdict = [&](const char* tokens) {
        return suite.run("v1:" + kernel + ":matches_reference:cpu:tokens=" + tokens + ":dense=1")
            .verdict;
    };
    CHECK(verdict("769") == Verdict::failed);
    CHECK(verdict("768") != Verdict::failed);
}

}  // namespace gradverify
