// SPDX-License-Identifier: Apache-2.0
// Seeded bugs, and correct kernels that look like one, are told apart.
#include <doctest/doctest.h>

#include <string>

#include "harness/run/shrink_in_workers.hpp"
#include "harness/workers/pool.hpp"
#include "properties/tests/devices.hpp"
#include "properties/tests/seeded_bugs/hunt.hpp"
#include "properties/tests/verdicts.hpp"

namespace gradverify {

static constexpr std::int64_t cases_maximum = 1000;

TEST_CASE("a kernel that keeps its first geometry is replayed with the call before it") {
    const KernelSuite suite(Registry::instance());
    for (const std::string& device : test_devices()) {
        const Row row =
            testing::row_named("conv.grad_bias/bug_cached_geometry", "matches_reference", device);
        for (const std::uint64_t seed : {1, 2, 3}) {
            CAPTURE(device);
            CAPTURE(seed);
            WorkerPool pool(one_suite_worker());
            const auto failure = first_failure(suite, row, seed, pool, cases_maximum);
            REQUIRE(failure);
            const Shrunk shrunk = shrink_in_workers(suite, pool, failure->found, failure->outcome);
            const std::string printed = shrunk.smallest.print();
            CAPTURE(printed);
            CAPTURE(shrunk.outcome.message);
            REQUIRE(shrunk.smallest.setting.before);
            CHECK(shrunk.minimal());
            CHECK(shrunk.smallest.problem.distance() <= 1);
            CHECK(shrunk.outcome.message.starts_with(
                "only after a call on " + shrunk.smallest.setting.before->print() +
                " in the same process, so the kernel keeps state between calls: "));
            WorkerPool other(one_suite_worker());
            CHECK(other.run(shrunk.smallest).verdict == Verdict::failed);
            Case without = shrunk.smallest;
            without.setting.before.reset();
            WorkerPool another(one_suite_worker());
            CHECK(another.run(without).verdict != Verdict::failed);
        }
    }
}

TEST_CASE("a kernel that keeps to the default stream passes without a declaration") {
    const KernelSuite suite(Registry::instance());
    for (const std::string& device : test_devices()) {
        const Row row =
            testing::row_named("conv.grad_bias/right_on_default_stream", "repeatable", device);
        WorkerPool pool(one_suite_worker());
        const auto failure = first_failure(suite, row, 1, pool, cases_maximum);
        CAPTURE(device);
        CAPTURE(failure ? failure->outcome.message : "");
        CHECK_FALSE(failure);
    }
}

TEST_CASE("some cases have a call on another problem before theirs, where values can tell") {
    const KernelSuite suite(Registry::instance());
    const auto share = [&](const char* property) {
        const Row row = testing::row_named("conv.grad_weight/naive", property);
        int count = 0;
        for (std::int64_t i = 0; i < 200; ++i) {
            const auto drawn = suite.draw(row, 1, i).drawn;
            REQUIRE(drawn);
            if (!drawn->setting.before) continue;
            ++count;
            CHECK_FALSE(row.kernel->why_unsupported(*drawn->setting.before));
        }
        return count;
    };
    CHECK(share("matches_reference") > 25);
    CHECK(share("within_rounding_bound") > 25);
    CHECK(share("stays_in_bounds") == 0);
}

TEST_CASE("buffers end or begin at the unmapped page by turns; stays_in_bounds does both") {
    WorkerPool pool(one_suite_worker());
    const auto failures_of = [&](const std::string& property) {
        int failures = 0;
        for (int seed = 1; seed <= 40; ++seed) {
            const Outcome outcome =
                pool.run(Case::parse("v1:conv.grad_bias/bug_read_ahead:" + property +
                                         ":cpu:in=1x1:seed=" + std::to_string(seed),
                                     Registry::instance()));
            if (outcome.verdict != Verdict::failed) continue;
            ++failures;
            CAPTURE(outcome.message);
            CHECK(outcome.message.find("read past the end of dy, dy[1] of 1, in block") !=
                  std::string::npos);
            CHECK(outcome.message.find("conv_grad_bias.cu:") != std::string::npos);
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
