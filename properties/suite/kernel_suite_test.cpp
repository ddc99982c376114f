// SPDX-License-Identifier: Apache-2.0
// Every registered kernel keeps every property on every device of the machine.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "harness/report/text/summary.hpp"
#include "harness/run/check_rows.hpp"
#include "harness/run/selection.hpp"
#include "harness/testing/made_operator.hpp"
#include "properties/data/seeds.hpp"
#include "properties/problems/covering_array.hpp"
#include "properties/problems/enumerate.hpp"
#include "properties/problems/generator.hpp"
#include "properties/properties.hpp"
#include "properties/suite/kernel_suite.hpp"
#include "properties/tests/devices.hpp"
#include "properties/tests/verdicts.hpp"

namespace gradverify {

namespace {

std::vector<Row> rows_of_correct_kernels(const Suite& suite, const std::string& property) {
    auto rows = select_rows(suite, Registry::instance(), {}, property, test_devices());
    std::erase_if(rows,
                  [](const Row& row) { return testing::is_wrong_on_purpose(row.kernel->name); });
    return rows;
}

/// Number of empty problems, which compare nothing, at most one step from the default one.
std::int64_t empty_near(const Kernel& kernel) {
    const SupportedProblems supported(*kernel.op, *kernel.pass, kernel.any());
    ProblemEnumerator enumerator(supported, {.distance = 1});
    std::int64_t count = 0;
    while (const auto problem = enumerator.next()) count += kernel.op->is_empty(*problem);
    return count;
}

}  // namespace

// Of the other kernels `check` runs drawn problems: half of these cases would be theirs.
TEST_CASE("a kernel of each pass keeps every property on every problem near the default one") {
    const KernelSuite suite(Registry::instance());
    std::map<const PassSpec*, const Kernel*> first;
    auto rows = rows_of_correct_kernels(suite, "*");
    std::erase_if(rows, [&](const Row& row) {
        return first.try_emplace(row.kernel->pass, row.kernel).first->second != row.kernel;
    });
    WorkerPool pool({.command = suite_worker_command(), .jobs = 2});
    const CheckOptions options{.exhaustive = ExhaustiveLimits{.distance = 1}};
    int rows_near = 0;
    for (const RowResult& result : check_rows(suite, rows, options, pool, {})) {
        CAPTURE(result.row.kernel->name);
        CAPTURE(result.row.property_name());
        // One whose filter is 3x3 only is further away. A gradient may be registered alone.
        if (result.message == "supports no problem up to this distance in this shard" ||
            result.message == "no forward kernel is registered" ||
            result.message == "draws problems of its own")
            continue;
        CHECK_MESSAGE(result.verdict == Verdict::passed, result.message);
        REQUIRE(result.exhaustive);
        CHECK(result.exhaustive->distance == 1);
        // Some properties hold of an empty problem, too, which is then compared.
        const std::int64_t compared = result.exhaustive->compared;
        CHECK(result.coverage.problems() >= compared);
        CHECK(result.coverage.problems() <= compared + empty_near(*result.row.kernel));
        CHECK(result.coverage.problems() <= result.exhaustive->problems);
        CHECK(result.cases >= 3 * result.exhaustive->problems);
        ++rows_near;
    }
    CHECK(rows_near > 100);
}

TEST_CASE("an exhaustive row ends at the smallest problem that shows a bug") {
    const KernelSuite suite(Registry::instance());
    const Row row =
        testing::row_named("conv.grad_input/bug_a04_group_weight_offset", "adjoint_identity");
    WorkerPool pool({.command = suite_worker_command(), .jobs = 2});
    const auto results =
        check_rows(suite, {row}, {.exhaustive = ExhaustiveLimits{.distance = 4}}, pool, {});
    REQUIRE(results.front().failure);
    CHECK(results.front().failure->smallest.problem.print() == "c=2,k=2,groups=2,in=1x1");
    CHECK(results.front().failure->minimal());
    CHECK(results.front().exhaustive->distance == 2);
}

TEST_CASE("free_of_races is a row of the cpu device alone") {
    const KernelSuite suite(Registry::instance());
    CHECK(select_rows(suite, Registry::instance(), {}, "free_of_races", {"cuda"}).empty());
    for (const Kernel& kernel : Registry::instance().kernels())
        CHECK(std::ranges::count(kernel.devices(), checked_variant) == 0);
}

TEST_CASE("case i depends on the seed, the kernel, the property and i alone") {
    const KernelSuite suite(Registry::instance()), other(Registry::instance());
    const auto rows = rows_of_correct_kernels(suite, "*");
    other.prepare(rows, 2);
    for (const Row& row : rows)
        for (const std::int64_t i : {0, 7, 100, 999}) {
            const auto drawn = suite.draw(row, 3, i).drawn;
            REQUIRE(drawn);
            // Whatever was drawn before, from another suite, in another order, beside threads.
            other.draw(rows.front(), 4, 5);
            CHECK(drawn->print() == other.draw(row, 3, i).drawn->print());
        }
    const Row& row = rows.front();
    CHECK(suite.draw(row, 3, 100).drawn->print() != suite.draw(row, 4, 100).drawn->print());
    CHECK(suite.draw(row, 3, 100).drawn->print() != suite.draw(row, 3, 101).drawn->print());
    CHECK(suite.draw(row, 3, 100).drawn->problem.print() !=
          suite.draw({row.kernel, find_property("repeatable"), row.device}, 3, 100)
              .drawn->problem.print());
}

TEST_CASE("threads that draw at once draw what one draws alone") {
    const KernelSuite suite(Registry::instance()), other(Registry::instance());
    auto rows = rows_of_correct_kernels(suite, "*");
    std::erase_if(rows, [](const Row& row) { return row.property->own_cases > 0; });
    const auto drawn_by = [&](const KernelSuite& by) {
        std::vector<std::string> drawn;
        for (const std::int64_t i : {0, 50, 999})
            for (const Row& row : rows) drawn.push_back(by.draw(row, 5, i).drawn->print());
        return drawn;
    };
    std::vector<std::vector<std::string>> drawn(4);
    {
        std::vector<std::jthread> threads;
        for (std::vector<std::string>& into : drawn)
            threads.emplace_back([&] { into = drawn_by(other); });
    }
    const auto alone = drawn_by(suite);
    for (const std::vector<std::string>& by_thread : drawn) CHECK(by_thread == alone);
}

TEST_CASE("a covering array that is longer than usual is drawn in a thousand cases too") {
    const Kernel& kernel =
        *Registry::instance().find_kernel("conv_transpose.grad_weight/direct_f64");
    // With these levels; none of our operators alone has as many.
    Operator op = *kernel.op;
    op.factors.push_back({.name = "remainder of in by 9",
                          .levels = std::vector<std::string>(9, "any"),
                          .parameters = {"in"},
                          .level_of_values = [](std::span<const std::int64_t> values) {
                              return static_cast<int>(values[0] % 9);
                          }});
    const ProblemGenerator generator(op, *op.find_pass("grad_weight"), kernel.any());
    const CoveringArray& array = generator.covering_array();
    REQUIRE(array.problems().size() > 667);  // of three cases two are the array's, usually
    for (const auto& [rank, reach] : array.pairs()) {
        LevelPairs met(reach.factors());
        for (std::int64_t i = 0; i < 1000; ++i) {
            const Problem problem =
                *generator.draw(draw_seed({1, kernel.name, "matches_reference", i}), i);
            if (problem.rank() == rank) met.add(met.levels_of(problem), op.is_empty(problem));
        }
        CHECK(met.missing_of(reach, 0).count == 0);
    }
}

TEST_CASE("a printed case that can't be run says why") {
    const KernelSuite suite(Registry::instance());
    const auto complaint = [&](const std::string& printed) {
        return testing::refusal([&] { suite.run(printed); });
    };
    CHECK(complaint("v1:conv.forward/naive:adjoint_identity:cpu:in=1x1:seed=1") ==
          "the property adjoint_identity does not apply to conv.forward/naive");
    CHECK(complaint("v1:conv.forward/naive:is_nice:cpu:in=1x1:seed=1")
              .starts_with("there is no property 'is_nice'; there are matches_reference"));
    CHECK(complaint("v1:conv.grad_weight/naive:repeatable:cpu:in=3x3,stride=2:seed=1") ==
          "needs stride = 1");
    CHECK(complaint("v1:conv.forward/naive:repeatable:cpu:c=3,groups=2,in=3x3:seed=1") ==
          "conv needs c multiple of groups");
}

}  // namespace gradverify
