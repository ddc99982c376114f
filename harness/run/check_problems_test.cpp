// SPDX-License-Identifier: Apache-2.0
// The problems of a row that are not drawn for it: the user's, and a property's own large ones.
#include <doctest/doctest.h>

#include "harness/testing/check.hpp"

using namespace gradverify;
using namespace gradverify::testing;

TEST_CASE("own problems are dealt in turn, each row those that its kernel supports") {
    Bench bench;
    CheckOptions options{.cases = 5, .problems = bench.problems({"in=4", "in=9", "n=2,in=3"})};
    const std::vector<Row> rows{bench.row("pass"), bench.row("pass", "toy.forward/small")};
    bench.check(rows, options);
    std::vector<std::string> any, small;
    for (const Asked& one : bench.asked)
        (one.kernel == "toy.forward/any" ? any : small).push_back(one.problem);
    CHECK(any == std::vector<std::string>{"in=4", "in=9", "n=2,in=3", "in=4", "in=9"});
    CHECK(small == std::vector<std::string>{"in=4", "n=2,in=3", "in=4", "n=2,in=3", "in=4"});
    options.cases_per_problem = 3;
    const auto results = bench.check(rows, options);
    CHECK(results[0].cases == 9);
    CHECK(results[1].cases == 6);
    CHECK(results[0].left_out.empty());
    CHECK(results[1].left_out == std::vector<std::string>{"in=9: needs 1 <= in <= 4"});
    CHECK(bench.most == 15);
}

TEST_CASE("a row that supports none of the own problems is skipped and says so") {
    Bench bench;
    const auto results = bench.check({bench.row("pass", "toy.forward/small"), bench.row("pass"),
                                      bench.row("pass", "other.forward/any")},
                                     {.cases = 5, .problems = bench.problems({"in=9"})});
    CHECK(said(results[0]) == "skipped: supports none of the given problems");
    CHECK(results[0].cases == 0);
    CHECK(results[1].verdict == Verdict::passed);
    // A problem of one operator means nothing to another, even when it reads the same.
    CHECK(results[2].verdict == Verdict::skipped);
}

TEST_CASE("a property with cases of its own has those alone, and none on a user's problem") {
    Bench bench;
    bench.suite.known = {{.name = "pass", .own_cases = 2}};
    CHECK(bench.check_one("pass", {.cases = 9}).cases == 2);
    CHECK(bench.check_one("pass", {.cases = 1}).cases == 1);
    const RowResult result =
        bench.check_one("pass", {.cases = 9, .problems = bench.problems({"in=2"})});
    CHECK(said(result) == "skipped: draws problems of its own");
    CHECK(result.cases == 0);
}

TEST_CASE("a row for which nothing is to be drawn is skipped, and what ran of it stands") {
    Bench bench;
    bench.suite.on_draw = [draw = bench.suite.on_draw](const Row& row, std::uint64_t seed,
                                                       std::int64_t index) {
        if (index >= static_cast<std::int64_t>(seed))
            return Suite::Draw{.drawn = {}, .why_none = "too small", .is_skip = true};
        return draw(row, seed, index);
    };
    const RowResult none = bench.check_one("pass", {.cases = 3, .seed = 0});
    CHECK(said(none) == "skipped: too small");
    const RowResult some = bench.check_one("pass", {.cases = 9, .seed = 2});
    CHECK(some.verdict == Verdict::passed);
    CHECK(some.cases == 2);
}

TEST_CASE("cases on problems of a row's own measure nothing of what it covers") {
    Bench bench;
    bench.suite.known = {{.name = "pass", .own_cases = 3}};
    const RowResult own = bench.check_one("pass", {.cases = 3});
    CHECK(own.passed == 3);
    CHECK(own.multiply_adds.empty());
    CHECK(own.coverage.problems() == 0);
    bench.suite.known = {{.name = "pass"}};
    CHECK(bench.check_one("pass", {.cases = 3}).multiply_adds.size() == 3);
}

TEST_CASE("cases that need the device's memory run one at a time, and others beside them") {
    Bench bench;
    bench.suite.known = {{.name = "spin_100", .own_cases = 3}};
    const auto results = bench.check(
        {bench.row("spin_100"), bench.row("spin_100", "toy.forward/small"), bench.row("pass")},
        {.cases = 3}, 2);
    REQUIRE(bench.asked.size() == 9);
    CHECK(bench.asked[0].property == "spin_100");
    for (std::size_t i = 1; i < 4; ++i) CHECK(bench.asked[i].property == "pass");
    for (const RowResult& result : results) CHECK(result.cases == 3);
}
