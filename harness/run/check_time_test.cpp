// SPDX-License-Identifier: Apache-2.0
// What rows get when the time of a run is up, and what is left of it for shrinking.
#include <doctest/doctest.h>

#include <chrono>
#include <vector>

#include "harness/testing/fake_rows.hpp"

using namespace gradverify;
using namespace gradverify::testing;

TEST_CASE("when the time is up, rows keep what they have and those without a case are skipped") {
    Bench bench;
    std::vector<Row> rows(60, bench.row("sleep_20"));
    const auto results = bench.check(rows, {.cases = 1000, .seconds = 0.2});
    CHECK(results.front().verdict == Verdict::passed);
    CHECK(results.front().cases == 1);
    CHECK(said(results.back()) == "skipped: time");
    CHECK(results.back().cases == 0);
    for (const RowResult& result : results) CHECK(result.cut_of == 1000);
    CHECK(bench.ended.size() == 60);
    for (const RowResult& result : bench.check(rows, {.cases = 1, .seconds = 600.0}))
        CHECK(result.cut_of == 0);
}

TEST_CASE("a row of zeros alone goes on for some cases when the time is up") {
    Bench bench;
    const std::vector<Row> rows{bench.row("vacuous"), bench.row("sleep_20"), bench.row("sleep_20")};
    const auto results = bench.check(rows, {.cases = 1000, .seconds = 0.03});
    CHECK(results[0].verdict == Verdict::vacuous);
    CHECK(results[0].cases == 100);
    CHECK(results[1].cases < 100);
}

TEST_CASE("a row of zeros alone is told no more cases once the overrun has passed, too") {
    Bench bench;
    const auto results =
        bench.check({bench.row("vacuous")},
                    {.cases = 1000, .seconds = 1e-9, .seconds_in_all = 1e-9, .at_least = 1});
    CHECK(results[0].cases == 1);
}

TEST_CASE("a late row of zeros gets as many cases as it takes, whatever the machine's speed") {
    Bench bench;
    for (const RowResult& told : bench.check(std::vector<Row>(3, bench.row("pass_at_1")),
                                             {.cases = 1000, .seconds = 1e-9, .at_least = 1}))
        CHECK(told.cases == 2);
}

TEST_CASE("rows get the cases that they are due though the time is up") {
    Bench bench;
    const std::vector<Row> rows(20, bench.row("sleep_20"));
    for (const std::int64_t shards : {1, 3}) {
        const auto results = bench.check(
            rows, {.cases = 1000, .seconds = 0.05, .at_least = 3, .shard = {shards - 1, shards}});
        for (const RowResult& result : results) CHECK(result.cases == 3);
    }
    // No row gets more than the run gives it.
    for (const RowResult& result : bench.check(rows, {.cases = 2, .seconds = 0.05, .at_least = 3}))
        CHECK(result.cases == 2);
    // Rows that run one at a time are too dear to be due any.
    bench.suite.known = {{.name = "sleep_20", .own_cases = 100}};
    const std::vector<Row> alone(20, bench.row("sleep_20"));
    std::int64_t cases = 0;
    for (const RowResult& result :
         bench.check(alone, {.cases = 1000, .seconds = 0.05, .at_least = 3}))
        cases += result.cases;
    CHECK(cases < 20);
}

TEST_CASE("a short --time is not overrun by shrinking: each failing row gets a share") {
    Bench bench;
    const std::vector<Row> rows(8, bench.row("fail"));
    std::vector<double> seconds;
    bench.suite.on_shrink = [&](const Case& found, const Outcome& outcome,
                                const CaseRunner& runner) {
        const auto start = std::chrono::steady_clock::now();
        const auto spent = [&] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        };
        try {
            while (runner(found).verdict == Verdict::failed && spent() < 30.0) continue;
        } catch (...) {  // time is up
            seconds.push_back(spent());
            throw;
        }
        return Shrunk{found, outcome, {}, 1};
    };
    // Long enough for each row's case, however slow the machine.
    const auto results = bench.check(rows, {.cases = 1, .seconds = 2.0});
    REQUIRE(seconds.size() == 8);
    double sum = 0.0;
    for (const double of_a_row : seconds) {
        CHECK(of_a_row > 0.4);
        sum += of_a_row;
    }
    // 2 s, 5 s more, and half a second for each row that they do not reach.
    CHECK(sum < 11.0);
    for (const RowResult& result : results) CHECK(result.verdict == Verdict::failed);
}

TEST_CASE("with a time limit a kernel that failed gets few more cases, and others all of theirs") {
    const auto cases_of = [](std::optional<double> seconds) {
        Bench bench;
        const auto results = bench.check(
            {bench.row("fail"), bench.row("pass"), bench.row("pass", "toy.forward/small")},
            {.cases = 300, .seconds = seconds});
        return std::pair(results[1].cases, results[2].cases);
    };
    CHECK(cases_of({}) == std::pair<std::int64_t, std::int64_t>(300, 300));
    CHECK(cases_of(600.0) == std::pair<std::int64_t, std::int64_t>(cases_beside_a_failure, 300));
}

TEST_CASE("rows share the time of a run, so that one of dear cases does not take it all") {
    Bench bench;
    const auto results = bench.check({bench.row("sleep_20"), bench.row("pass")},
                                     {.cases = 1'000'000, .seconds = 1.0});
    CHECK(results[0].cases >= 5);
    CHECK(results[1].cases > 5 * results[0].cases);
}

TEST_CASE("the suite's first property is served first") {
    Bench bench;
    bench.suite.known = {{.name = "sleep_20"}, {.name = "pass"}};
    std::vector<Row> rows(30, bench.row("pass"));
    rows.resize(60, bench.row("sleep_20"));
    const auto results = bench.check(rows, {.cases = 1000, .seconds = 0.1});
    CHECK(results[30].verdict == Verdict::passed);
    CHECK(results[0].verdict == Verdict::skipped);
}

TEST_CASE("with a time limit shrinking waits for rows that still take cases") {
    Bench bench;
    std::vector<Case> starts;
    bench.suite.on_shrink = [&](const Case& found, const Outcome& outcome,
                                const CaseRunner& runner) {
        starts.push_back(found);
        Case smaller = found;
        smaller.data.seed = 1000 + starts.size();
        // The second time it has done what there is to do.
        while (starts.size() == 1 && runner(smaller).verdict == Verdict::failed) continue;
        return Shrunk{smaller, outcome, {}, 10};
    };
    const auto results =
        bench.check({bench.row("fail"), bench.row("sleep_20", "toy.forward/small")},
                    {.cases = 10'000, .seconds = 3.0});
    REQUIRE(starts.size() == 2);
    CHECK(starts[1].data.seed == 1001);
    CHECK(results[0].failure->smallest.data.seed == 1002);
    CHECK(results[0].failure->runs > 10);
    CHECK(results[1].cases > 20);
}
