// SPDX-License-Identifier: Apache-2.0
// The tester is tested: each seeded bug is killed by the property that claims it, from the
// generator alone (without the fixed list of small problems), shrunk to the smallest problem known
// for it, and fails again from its printed line in another process.
#include <doctest/doctest.h>

#include <string>

#include "harness/cli_verbs.hpp"
#include "harness/shrink_in_workers.hpp"
#include "harness/worker_pool.hpp"
#include "properties/properties.hpp"
#include "properties/suite.hpp"
#include "properties/test_support.hpp"

namespace gradverify {

namespace {

struct SeededBug {
    const char* kernel;
    const char* property;
    const char* smallest;
    const char* device = "";  ///< the only one that can see it; "": each
};

// From the list of bugs that shipped, with the smallest problem that shows each.
constexpr SeededBug bugs[] = {
    {"conv.forward/bug_a01_swapped_extents", "matches_reference", "in=1x2"},
    {"conv.forward/bug_a02_dilated_position", "matches_reference", "in=1x2,dilation=1x2"},
    {"conv.grad_weight/bug_a02_dilated_position", "matches_reference", "in=1x2,dilation=1x2"},
    {"conv.grad_input/bug_a03_remainder_unwritten", "stays_in_bounds", "in=1x2,stride=1x2"},
    {"conv.grad_input/bug_a04_group_weight_offset", "matches_finite_differences",
     "c=2,k=2,groups=2,in=1x1"},
    {"conv.grad_input/bug_a04_group_weight_offset", "adjoint_identity", "c=2,k=2,groups=2,in=1x1"},
    {"conv.grad_weight/bug_a05_bottom_edge", "stays_in_bounds", "in=1x1,padding=1x0"},
    {"conv.grad_weight/bug_a06_accumulates", "matches_reference", "in=1x1"},
    {"conv.grad_weight/bug_a06_accumulates", "repeatable", "in=1x1"},
    {"conv.grad_bias/bug_a07_next_channel", "within_rounding_bound", "k=2,in=1x1"},
    {"conv.grad_bias/bug_a07_next_channel", "matches_reference", "k=2,in=1x1"},
    // By the unmapped page alone: on cuda only compute-sanitizer sees such a read.
    {"conv.grad_bias/bug_read_ahead", "stays_in_bounds", "in=1x1", "cpu"},
    {"conv.grad_bias/bug_read_ahead", "matches_reference", "in=1x1", "cpu"},
    {"conv.grad_bias/bug_a16_last_warp", "free_of_races", "in=1x1"},
};

constexpr std::int64_t cases_maximum = 200;

/// The first failing case of a row, within as many cases.
std::optional<std::pair<Case, Outcome>> first_failure(const Suite& suite, const Row& row,
                                                      std::uint64_t seed, WorkerPool& pool) {
    for (std::int64_t i = 0; i < cases_maximum; ++i) {
        const auto draw = suite.draw(row, seed, i);
        REQUIRE(draw.drawn);
        const Outcome outcome = pool.run(draw.drawn->print());
        if (outcome.verdict == Verdict::failed) return {{*draw.drawn, outcome}};
    }
    return std::nullopt;
}

WorkerPoolOptions one_worker() { return {.command = suite_worker_command(), .jobs = 1}; }

}  // namespace

TEST_CASE(
    "each seeded bug is killed, shrunk to its smallest problem, and fails again when replayed") {
    const Suite suite = make_suite(Registry::instance(), {.edge_problems = false});
    for (const std::string& device : test_devices())
        for (const SeededBug& bug : bugs)
            for (const std::uint64_t seed : {1, 2}) {
                if (*bug.device != '\0' && bug.device != device) continue;
                CAPTURE(device);
                CAPTURE(std::string(bug.kernel));
                CAPTURE(std::string(bug.property));
                CAPTURE(seed);
                const Row row{Registry::instance().find_kernel(bug.kernel), bug.property, device};
                REQUIRE(row.kernel);
                const Property& property = *find_property(bug.property);
                if (!property.only_on.empty() && property.only_on != device) continue;
                WorkerPool pool(one_worker());
                const auto failure = first_failure(suite, row, seed, pool);
                REQUIRE(failure);
                // Found where the problem is larger than the smallest.
                CHECK(failure->first.problem.print() != bug.smallest);
                const Shrunk shrunk = suite.shrink(
                    failure->first, failure->second,
                    [&](const Case& candidate) { return pool.run(candidate.print()); });
                CHECK(shrunk.smallest.problem.print() == bug.smallest);
                CHECK(shrunk.minimal());
                const std::string printed = shrunk.smallest.print();
                CAPTURE(printed);
                WorkerPool other(one_worker());
                CHECK(other.run(printed).verdict == Verdict::failed);
            }
}

TEST_CASE(
    "whatever the seed, and with or without edge problems, a seeded bug ends at one problem") {
    for (const bool edge_problems : {true, false}) {
        const Suite suite = make_suite(Registry::instance(), {.edge_problems = edge_problems});
        for (const SeededBug& bug : bugs)
            for (std::uint64_t seed = 10; seed < 20; ++seed) {
                CAPTURE(edge_problems);
                CAPTURE(std::string(bug.kernel));
                CAPTURE(std::string(bug.property));
                CAPTURE(seed);
                const Row row{Registry::instance().find_kernel(bug.kernel), bug.property, "cpu"};
                WorkerPool pool(one_worker());
                const auto failure = first_failure(suite, row, seed, pool);
                REQUIRE(failure);
                const Shrunk shrunk = suite.shrink(
                    failure->first, failure->second,
                    [&](const Case& candidate) { return pool.run(candidate.print()); });
                CHECK(shrunk.minimal());
                CHECK(shrunk.smallest.problem.print() == bug.smallest);
            }
    }
}

TEST_CASE("a kernel that keeps its first geometry is replayed with the call before it") {
    const Suite suite = make_suite(Registry::instance());
    for (const std::string& device : test_devices()) {
        const Row row{Registry::instance().find_kernel("conv.grad_bias/bug_cached_geometry"),
                      "matches_reference", device};
        for (const std::uint64_t seed : {1, 2, 3}) {
            CAPTURE(device);
            CAPTURE(seed);
            WorkerPool pool(one_worker());
            const auto failure = first_failure(suite, row, seed, pool);
            REQUIRE(failure);
            const Shrunk shrunk = shrink_in_workers(suite, pool, failure->first, failure->second);
            const std::string printed = shrunk.smallest.print();
            CAPTURE(printed);
            CAPTURE(shrunk.outcome.message);
            REQUIRE(shrunk.smallest.setting.before);
            CHECK(shrunk.minimal());
            CHECK(shrunk.smallest.problem.distance() <= 1);
            CHECK(shrunk.outcome.message.starts_with(
                "only after a call on " + shrunk.smallest.setting.before->print() +
                " in the same process, so the kernel keeps state between calls: "));
            WorkerPool other(one_worker());
            CHECK(other.run(printed).verdict == Verdict::failed);
            Case without = shrunk.smallest;
            without.setting.before.reset();
            WorkerPool another(one_worker());
            CHECK(another.run(without.print()).verdict != Verdict::failed);
        }
    }
}

TEST_CASE("some cases have a call on another problem before theirs, where values can tell") {
    const Suite suite = make_suite(Registry::instance());
    const Kernel* kernel = Registry::instance().find_kernel("conv.grad_weight/naive");
    const auto share = [&](const char* property) {
        int count = 0;
        for (std::int64_t i = 0; i < 200; ++i) {
            const auto drawn = suite.draw({kernel, property, "cpu"}, 1, i).drawn;
            REQUIRE(drawn);
            if (!drawn->setting.before) continue;
            ++count;
            CHECK_FALSE(kernel->why_unsupported(*drawn->setting.before));
        }
        return count;
    };
    CHECK(share("matches_reference") > 25);
    CHECK(share("within_rounding_bound") > 25);
    CHECK(share("stays_in_bounds") == 0);
}

TEST_CASE("buffers end or begin at the unmapped page by turns; stays_in_bounds does both") {
    WorkerPool pool(one_worker());
    const auto failures_of = [&](const std::string& property) {
        int failures = 0;
        for (int seed = 1; seed <= 40; ++seed) {
            const Outcome outcome = pool.run("v1:conv.grad_bias/bug_read_ahead:" + property +
                                             ":cpu:in=1x1:seed=" + std::to_string(seed));
            if (outcome.verdict != Verdict::failed) continue;
            ++failures;
            CAPTURE(outcome.message);
            CHECK(outcome.message.find("read past the end of dy, dy[1] of 1, in block") !=
                  std::string::npos);
            CHECK(outcome.message.find("conv_gradients.cu:") != std::string::npos);
        }
        return failures;
    };
    CHECK(failures_of("stays_in_bounds") == 40);
    // One call at one edge: half of the cases, and a probability of 1e-4 to be outside of this.
    const int of_one_call = failures_of("matches_reference");
    CHECK(of_one_call > 8);
    CHECK(of_one_call < 32);
}

}  // namespace gradverify
