// SPDX-License-Identifier: Apache-2.0
// How a row is served that runs every problem in order.
#include <doctest/doctest.h>

#include "harness/testing/check.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

/// `in=1`, `in=2`...
std::vector<std::string> in_up_to(int last) {
    std::vector<std::string> problems;
    for (int in = 1; in <= last; ++in) problems.push_back("in=" + std::to_string(in));
    return problems;
}

}  // namespace

TEST_CASE("an exhaustive row runs every problem and says how far it got") {
    for (const int jobs : {1, 3}) {
        Bench bench;
        enumerate(bench.suite, in_up_to(100));
        const auto results = bench.check({bench.row("pass"), bench.row("vacuous")},
                                         {.exhaustive = ExhaustiveLimits{.distance = 9}}, jobs);
        CHECK(results[0].verdict == Verdict::passed);
        CHECK(results[0].cases == 20);
        REQUIRE(results[0].exhaustive);
        CHECK(results[0].exhaustive->print() == "all 10 problems up to distance 9");
        CHECK(results[1].verdict == Verdict::vacuous);
        CHECK(results[1].exhaustive->compared == 0);
        CHECK(bench.asked.empty());
        CHECK(bench.ended.size() == 2);
    }
}

TEST_CASE("an exhaustive row ends at its smallest failing problem, which a whole run certifies") {
    struct Variant {
        Minimality::Kind kind;
        Shard shard;
        const char* smallest;
        bool is_certified;
    };
    using enum Minimality::Kind;
    // Seeds 2 and 3 are in=1. What shrinking did not repeat, or a shard shows, is not certified.
    for (const auto& [kind, shard, smallest, is_certified] :
         {Variant{boxed, {}, "in=1", true}, Variant{none, {}, "in=1", false},
          Variant{boxed, {.index = 1, .count = 2}, "in=2", false}}) {
        Bench bench;
        enumerate(bench.suite, in_up_to(100));
        bench.suite.on_shrink = [kind](const Case& found, const Outcome& outcome,
                                       const CaseRunner&) {
            return Shrunk{found, outcome, {kind, 1, 2}, 1};
        };
        const RowResult result = bench.check_one(
            "fail_from_3", {.shard = shard, .exhaustive = ExhaustiveLimits{.shard = shard}});
        CHECK(result.verdict == Verdict::failed);
        REQUIRE(result.failure);
        CHECK(result.failure->smallest.problem.print() == smallest);
        CHECK(result.exhaustive->problems == 0);
        CHECK(result.failure->minimal() == is_certified);
        CHECK(result.failure->minimality.of == (is_certified ? 0 : 2));
    }
}

TEST_CASE("an exhaustive row without a problem, or whose search throws, says so") {
    Bench bench;
    enumerate(bench.suite, in_up_to(1));
    const Shard shard{.index = 1, .count = 2};
    const auto results =
        bench.check({bench.row("pass"), bench.row("throws")},
                    {.shard = shard, .exhaustive = ExhaustiveLimits{.shard = shard}});
    CHECK(said(results[0]) == "skipped: supports no problem up to this distance in this shard");
    CHECK(said(results[1]) == "errored: drawing a problem threw: no such size");
}

TEST_CASE("an exhaustive row stops when the time is up, and keeps what it has") {
    Bench bench;
    enumerate(bench.suite, in_up_to(1000));
    const RowResult result =
        bench.check_one("sleep_20", {.seconds = 0.3, .exhaustive = ExhaustiveLimits{}});
    CHECK(result.verdict == Verdict::passed);
    CHECK(result.cases < 60);
    REQUIRE(result.exhaustive);
    CHECK(result.exhaustive->distance >= 0);
    CHECK(2 * result.exhaustive->problems <= result.cases);
    CHECK(2 * result.exhaustive->problems >= result.cases - 1);
}

TEST_CASE("an exhaustive row fails after all when a case proves to have damaged its worker") {
    Bench bench;
    enumerate(bench.suite, in_up_to(2));
    const RowResult result = bench.check_one("damage", {.exhaustive = ExhaustiveLimits{}});
    CHECK(result.verdict == Verdict::failed);
    REQUIRE(result.failure);
    // The last of the four is tried first.
    CHECK(result.failure->smallest.problem.print() == "in=2");
    CHECK(result.failure->smallest.data.seed == 5);
}
