// SPDX-License-Identifier: Apache-2.0
// What rows get when the time of a run is up, and what is left of it for shrinking.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "harness/testing/fake_rows.hpp"

using namespace gradverify;
using namespace gradverify::testing;

TEST_CASE("when the time is up, rows keep what they have; those with a case or none are skipped") {
    Bench bench;
    std::vector<Row> rows(60, bench.row("sleep_20"));
    const auto results = bench.check(rows, {.cases = 1000, .seconds = 0.2});
    CHECK(said(results.front()) == "skipped: time ran out after one case");
    CHECK(results.front().cases == 1);
    CHECK(said(results.back()) == "skipped: time");
    CHECK(results.back().cases == 0);
    for (const RowResult& result : results) CHECK(result.cut_of == 1000);
    CHECK(bench.ended.size() == 60);
    for (const RowResult& result : bench.check(rows, {.cases = 1, .seconds = 600.0})) {
        CHECK(result.verdict == Verdict::passed);
        CHECK(result.cut_of == 0);
    }
}

TEST_CASE("a row of zeros alone goes on for some cases when the time is up") {
    Bench bench;
    const std::vector<Row> rows{bench.row("vacuous"), bench.row("sleep_20"), bench.row("sleep_20")};
    const auto results = bench.check(rows, {.cases = 1000, .seconds = 0.03});
    CHECK(results[0].verdict == Verdict::vacuous);
    CHECK(results[0].cases == 100);
    CHECK(results[1].cases < 100);
}

namespace {

/// The draw of this number takes longer than half a second.
void draw_slowly(Bench& bench, int which) {
    const auto draw = bench.suite.on_draw;
    bench.suite.on_draw = [=, drawn = 0](const Row& row, std::uint64_t seed,
                                         std::int64_t index) mutable {
        if (++drawn == which) std::this_thread::sleep_for(std::chrono::milliseconds(600));
        return draw(row, seed, index);
    };
}

}  // namespace

TEST_CASE("a row of zeros alone is told no more cases once the overrun has passed, too") {
    Bench bench;
    draw_slowly(bench, 1);
    const auto results =
        bench.check({bench.row("vacuous")}, {.cases = 1000, .seconds = 0.5, .seconds_in_all = 0.5});
    CHECK(results[0].cases == 1);
}

TEST_CASE("a late row of zeros gets as many cases as it takes, whatever the machine's speed") {
    Bench bench;
    draw_slowly(bench, 3);  // time is up when each row has its first case
    for (const RowResult& told :
         bench.check(std::vector<Row>(3, bench.row("pass_at_1")), {.cases = 1000, .seconds = 0.5}))
        CHECK(told.cases == 2);
}

TEST_CASE("time holds though rows are due cases, and one of dear cases is thin and holds none up") {
    Bench bench;
    std::vector<Row> rows(5, bench.row("pass"));
    rows[2] = bench.row("sleep_20");
    const auto begin = std::chrono::steady_clock::now();
    const auto results =
        bench.check(rows, {.cases = 1'000'000, .seconds = 1.0, .at_least = 200}, 2);
    // Its 200 cases alone would take two seconds more on two workers; a loaded machine has time.
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
    for (const RowResult& result : results) {
        CHECK(result.verdict == Verdict::passed);
        CHECK(result.cut_short);
    }
    CHECK(results[2].cases < 200);
    CHECK(results[2].thin_of == 200);
    for (const std::size_t quick : {0, 1, 3, 4}) {
        CHECK(results[quick].cases >= 200);
        CHECK(results[quick].thin_of == 0);
    }
}

TEST_CASE("what a row is due is no more than the run gives it, and nothing where it runs alone") {
    Bench bench;
    for (const RowResult& result : bench.check({bench.row("pass"), bench.row("sleep_20")},
                                               {.cases = 3, .seconds = 600.0, .at_least = 100})) {
        CHECK(result.cases == 3);
        CHECK(result.thin_of == 0);
        CHECK_FALSE(result.cut_short);
    }
    bench.suite.known = {{.name = "sleep_20", .own_cases = 100}};
    const std::vector<Row> alone(3, bench.row("sleep_20"));
    for (const RowResult& result :
         bench.check(alone, {.cases = 1000, .seconds = 0.2, .at_least = 50}))
        CHECK(result.thin_of == 0);
}

TEST_CASE("with a time limit each row has its first 50 cases before a cheap one has more") {
    Bench bench;
    bench.check({bench.row("pass"), bench.row("sleep_20")}, {.cases = 60, .seconds = 600.0});
    int quick = 0, slow = 0;
    for (const std::string& ended : bench.ended_cases) {
        ++(ended.starts_with("pass ") ? quick : slow);
        if (quick > 50 && slow < 48) FAIL(quick << " and " << slow);  // a few are in flight
    }
    CHECK(quick == 60);
    CHECK(slow == 60);
}

TEST_CASE("with a time limit rows of a kernel that has ended its process wait for other kernels'") {
    Bench bench;
    bench.check({bench.row("crash"), bench.row("pass"), bench.row("pid", "toy.forward/small")},
                {.cases = 50, .seconds = 600.0});
    const auto last = std::ranges::find(bench.ended_cases, "pid 49 passed");
    REQUIRE(last != bench.ended_cases.end());
    // A few were in flight.
    CHECK(std::count_if(bench.ended_cases.begin(), last,
                        [](const std::string& ended) { return ended.starts_with("pass "); }) < 20);
    CHECK(bench.ended_cases.size() == 101);
}

TEST_CASE("with a time limit a kernel of which no case has ended has few in flight") {
    Bench bench;
    std::vector<Row> rows(6, bench.row("sleep_20"));
    rows.push_back(bench.row("pass", "toy.forward/small"));
    for (const bool has_limit : {false, true}) {
        bench.asked.clear();
        bench.check(rows, {.cases = 2, .seconds = has_limit ? std::optional(600.0) : std::nullopt});
        // A pipe holds six.
        const auto first = std::span(bench.asked).first(6);
        CHECK(std::ranges::count(first, "sleep_20", &Asked::property) == (has_limit ? 4 : 6));
    }
}

TEST_CASE("with a time limit dear cases come behind a row's first, but for a row of dear ones") {
    const auto order_of = [](double usual, double dear, std::optional<double> seconds) {
        Bench bench;
        const auto draw = bench.suite.on_draw;
        bench.suite.on_draw = [=](const Row& row, std::uint64_t seed, std::int64_t index) {
            Suite::Draw drawn = draw(row, seed, index);
            drawn.share = index == 3 || index == 7 ? dear : usual;
            return drawn;
        };
        bench.check({bench.row("pass")}, {.cases = 60, .seconds = seconds});
        REQUIRE(bench.ended_cases.size() == 60);
        const auto place_of = [&](const std::string& drawn) {
            return std::ranges::find(bench.ended_cases, "pass " + drawn + " passed") -
                   bench.ended_cases.begin();
        };
        return std::pair(place_of("3"), place_of("7"));
    };
    using Places = std::pair<std::ptrdiff_t, std::ptrdiff_t>;
    CHECK(order_of(1e-3, 1.0, 600.0) == Places(50, 51));
    CHECK(order_of(1e-3, 1.0, {}) == Places(3, 7));
    CHECK(order_of(0.5, 1.0, 600.0) == Places(3, 7));
    CHECK(order_of(1e-6, 1e-3, 600.0) == Places(3, 7));
}

TEST_CASE("a run says now and then that it lives, and what takes longest") {
    Bench bench;
    bench.check({bench.row("pass"), bench.row("sleep_300")},
                {.cases = 2, .seconds_between_signs = 0.1});
    CHECK(std::ranges::any_of(bench.signs, [](const Bench::Sign& one) {
        return one.longest == "sleep_300" && one.sign.longest_seconds > 0.0 && one.sign.rows == 2 &&
               one.sign.cases >= 2 && one.sign.rows_with_all == 1;
    }));
    bench.signs.clear();
    bench.check({bench.row("sleep_300")}, {.cases = 1});
    CHECK(bench.signs.empty());
    bench.suite.on_shrink = [](const Case& found, const Outcome& outcome,
                               const CaseRunner& runner) {
        for (int i = 0; i < 20; ++i) runner(found);
        return Shrunk{{}, found, outcome};
    };
    bench.check({bench.row("fail")}, {.cases = 1, .seconds_between_signs = 1e-9});
    CHECK(std::ranges::any_of(bench.signs, [](const auto& one) { return one.sign.is_shrinking; }));
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
        return Shrunk{{}, found, outcome, 1};
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
                                     {.cases = 1'000'000, .seconds = 4.0});
    CHECK(results[0].cases >= 5);
    CHECK(results[1].cases > 5 * results[0].cases);
}

TEST_CASE("the suite's first property is served first") {
    Bench bench;
    bench.suite.known = {{.name = "sleep_20"}, {.name = "pass"}};
    std::vector<Row> rows(30, bench.row("pass"));
    rows.resize(60, bench.row("sleep_20"));
    const auto results = bench.check(rows, {.cases = 1000, .seconds = 0.1});
    CHECK(results[30].cases > 0);
    CHECK(results[0].cases == 0);
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
        return Shrunk{{}, smaller, outcome, 10};
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
