// SPDX-License-Identifier: Apache-2.0
// Seeded bugs, and correct kernels that look like one, are told apart.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "harness/run/selection.hpp"
#include "harness/run/shrink_in_workers.hpp"
#include "harness/workers/pool.hpp"
#include "properties/tests/devices.hpp"
#include "properties/tests/seeded_bugs/hunt.hpp"
#include "properties/tests/verdicts.hpp"

namespace gradverify {

static constexpr std::int64_t cases_maximum = 1000;

TEST_CASE("each seeded bug fails where it is smallest") {
    const KernelSuite suite(Registry::instance());
    WorkerPool pool(one_suite_worker());
    for (const SeededBug& bug : every_seeded_bug()) {
        const auto row = row_of(bug, "cpu");
        if (!row) continue;
        const Problem smallest = Problem::parse(row->kernel->op->space, bug.smallest);
        if (smallest.distance() > 1000) continue;  // takes long
        CAPTURE(std::string(bug.kernel));
        CAPTURE(std::string(bug.property));
        std::int64_t cases = 0;
        const auto fails = [&] {
            return pool.run(suite.draw_on(*row, 1, cases++, smallest)).verdict == Verdict::failed;
        };
        while (cases < 300 && !fails()) {
        }
        CHECK(cases < 300);
    }
}

// What changes these numbers changes what a run sees. They are for a seed, so another draw changes
// them too; then look whether fewer wrong cases fail, or more right ones are vacuous.
TEST_CASE("the first cases of right and of wrong kernels end as they did") {
    const KernelSuite suite(Registry::instance(), {.edge_problems = false});
    WorkerPool pool(one_suite_worker());
    std::map<std::string, std::map<std::string_view, int>> ends;
    const auto run_first = [&](const std::string& of, const Row& row) {
        for (std::int64_t i = 0; i < 5; ++i)
            ++ends[of + row.property_name()]
                  [name_of(pool.run(suite.draw(row, 1, i).drawn.value()).verdict)];
    };
    for (const SeededBug& bug : every_seeded_bug())
        if (const auto row = row_of(bug, "cpu")) run_first("wrong ", *row);
    const std::vector<std::string> right = {"conv.*/naive",
                                            "maxpool.*/naive",
                                            "avgpool.*/naive",
                                            "fc.*/naive",
                                            "softmax_cross_entropy.*/naive",
                                            "layer_norm.*/naive",
                                            "batch_norm.*/naive",
                                            "embedding.*/naive"};
    for (const Row& row : select_rows(suite, Registry::instance(), right, "[!h]*", {"cpu"}))
        run_first("right ", row);
    std::string table = "\n";
    for (const auto& [name, counts] : ends) {
        table += name + ":";
        for (const auto& [verdict, count] : counts) table += fmt::format(" {} {}", count, verdict);
        table += "\n";
    }
    CHECK(table == R"(
right adjoint_identity: 30 passed 4 skipped 1 vacuous
right free_of_races: 72 passed 3 vacuous
right matches_finite_differences: 39 passed 1 vacuous
right matches_reference: 58 passed 2 vacuous
right repeatable: 71 passed 4 vacuous
right stays_in_bounds: 73 passed 2 vacuous
right within_rounding_bound: 69 passed 6 vacuous
wrong adjoint_identity: 11 failed 7 passed 2 skipped
wrong free_of_races: 76 failed 42 passed 2 vacuous
wrong matches_finite_differences: 31 failed 15 passed 4 vacuous
wrong matches_reference: 160 failed 189 passed 21 vacuous
wrong repeatable: 24 failed 6 passed
wrong stays_in_bounds: 25 failed 32 passed 3 vacuous
wrong within_rounding_bound: 116 failed 75 passed 14 vacuous
)");
}

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

TEST_CASE("work that no stream orders is charged once, with what may be declared") {
    for (const char* bug : {"conv.grad_bias/bug_first_stage_on_default_stream",
                            "conv.grad_bias/bug_last_stage_on_default_stream",
                            "conv.grad_bias/bug_left_on_own_stream"}) {
        testing::check_all_agree(bug, "matches_reference", 40);
        const auto verdicts = testing::run_drawn(bug, "repeatable", 40);
        CAPTURE(verdicts.first_alarm);
        CHECK(verdicts[Verdict::failed] > 20);
    }
    const std::string alarm =
        testing::run_drawn("conv.grad_bias/bug_first_stage_on_default_stream", "repeatable", 40)
            .first_alarm;
    CAPTURE(alarm);
    CHECK(alarm.find(".on_default_stream()") != std::string::npos);
}

TEST_CASE("stages on two streams race unless an event joins them") {
    const KernelSuite suite(Registry::instance());
    WorkerPool pool(one_suite_worker());
    const auto failure_of = [&](const char* kernel) {
        const Row row = testing::row_named(kernel, "free_of_races");
        const auto failure = first_failure(suite, row, 1, pool, cases_maximum);
        return failure ? failure->outcome.message : "";
    };
    CHECK(failure_of("conv.grad_bias/right_on_own_stream") == "");
    CHECK(failure_of("conv.grad_bias/bug_stages_on_two_streams")
              .find("nothing orders these two works") != std::string::npos);
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

TEST_CASE("whatever the seed, stays_in_bounds has buffers end at the unmapped page too") {
    WorkerPool pool(one_suite_worker());
    for (int seed = 1; seed <= 40; ++seed) {
        const Outcome outcome = pool.run(
            Case::parse("v1:conv.grad_bias/bug_read_ahead:stays_in_bounds:cpu:in=1x1:seed=" +
                            std::to_string(seed),
                        Registry::instance()));
        CAPTURE(outcome.message);
        CHECK(outcome.verdict == Verdict::failed);
        CHECK(outcome.message.find(
                  "read past the end of dy: dy[1], but dy has 1 element, in block") !=
              std::string::npos);
        CHECK(outcome.message.find("conv_grad_bias.cu:") != std::string::npos);
    }
}

}  // namespace gradverify
