// SPDX-License-Identifier: Apache-2.0
// Which cases an exhaustive row is served, what it may claim, and how it ends.
#include "harness/run/exhaustive.hpp"

#include <doctest/doctest.h>

#include "harness/testing/fake_rows.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

/// The walk of a row with these problems.
struct Walk : Bench, ExhaustiveWalk {
    explicit Walk(const std::vector<std::string>& problems, const ExhaustiveLimits& limits = {},
                  bool gives_up = false)
        : ExhaustiveWalk(suite, row("pass"), limits) {
        enumerate(suite, problems, gives_up);
    }
};

// Distances 0, 1, 1, 2, 2, 2.
const std::vector<std::string> six{"in=1", "in=2", "n=2,in=1", "in=3", "n=2,in=2", "n=3,in=1"};

/// Walks to the end, answering each case as `verdict` says.
template <class VerdictOf>
std::vector<std::string> walk_through(ExhaustiveWalk& walk, VerdictOf verdict_of) {
    std::vector<std::string> handed_out;
    while (const auto step = walk.next()) {
        handed_out.push_back(std::to_string(step->index) + ": " + step->dense.problem.print() +
                             " " + std::to_string(step->dense.data.seed));
        walk.answered(step->index, verdict_of(step->dense));
    }
    return handed_out;
}

Verdict pass(const Case&) { return Verdict::passed; }

std::string cover_within(const ExhaustiveLimits& limits) {
    Walk walk(six, limits);
    walk_through(walk, pass);
    return walk.cover().print();
}

/// `in=1`, `in=2`...
std::vector<std::string> in_up_to(int last) {
    std::vector<std::string> problems;
    for (int in = 1; in <= last; ++in) problems.push_back("in=" + std::to_string(in));
    return problems;
}

}  // namespace

TEST_CASE("every problem's dense cases are handed out, in the order of problems") {
    Walk walk({"in=1", "in=2"});
    CHECK(walk_through(walk, pass) ==
          std::vector<std::string>{"0: in=1 2", "1: in=1 3", "2: in=2 4", "3: in=2 5"});
    CHECK(
        walk.cover() ==
        ExhaustiveCover{.problems = 2, .compared = 2, .distance = 1, .beyond = 0, .is_all = true});
    CHECK(walk.cover().print() == "all 2 problems that it supports");
    CHECK(walk.problems_before(1) == 0);
    CHECK(walk.problems_before(2) == 1);
    CHECK_FALSE(walk.next());
}

TEST_CASE("a row goes as far as its distance, and says so of whole distances alone") {
    CHECK(cover_within({.distance = 0}) == "the one problem up to distance 0");
    CHECK(cover_within({.distance = 1}) == "all 3 problems up to distance 1");
    CHECK(cover_within({.distance = 2}) == "all 6 problems that it supports");
    CHECK(cover_within({}) == "all 6 problems that it supports");
}

TEST_CASE("a limit on cases ends inside a distance, and half a problem counts for nothing") {
    CHECK(cover_within({.cases = 0}) == "0 problems, at no distance all");
    CHECK(cover_within({.cases = 1}) == "0 problems, at no distance all");
    CHECK(cover_within({.cases = 2}) == "the one problem up to distance 0");
    CHECK(cover_within({.cases = 4}) == "the one problem up to distance 0 and 1 beyond");
    CHECK(cover_within({.cases = 5}) == "the one problem up to distance 0 and 1 beyond");
    CHECK(cover_within({.cases = 6}) == "all 3 problems up to distance 1");
    CHECK(cover_within({.distance = 1, .cases = 100}) == "all 3 problems up to distance 1");
    CHECK(cover_within({.distance = 2, .cases = 8}) ==
          "all 3 problems up to distance 1 and 1 beyond");
}

TEST_CASE("the shards of an exhaustive run partition the problems") {
    std::vector<std::string> all;
    for (const std::int64_t shard : {0, 1}) {
        Walk walk(six, {.distance = 2, .shard = {shard, 2}});
        const auto handed_out = walk_through(walk, pass);
        CHECK(handed_out.size() == 6);
        CHECK(handed_out.front() == (shard == 0 ? "0: in=1 2" : "2: in=2 4"));
        CHECK(walk.cover().print() == "all 3 problems of this shard that it supports");
        CHECK(walk.cover().shards == 2);
        all.insert(all.end(), handed_out.begin(), handed_out.end());
    }
    std::ranges::sort(all);
    Walk whole(six);
    auto expected = walk_through(whole, pass);
    std::ranges::sort(expected);
    CHECK(all == expected);
    CHECK(cover_within({.distance = 1, .shard = {1, 2}}) ==
          "the one problem of this shard up to distance 1");
}

TEST_CASE("only what was answered is claimed, and a distance only when all of it was") {
    Walk walk(six);
    std::vector<std::int64_t> indices;
    while (const auto step = walk.next()) indices.push_back(step->index);
    CHECK(walk.cover().problems == 0);
    CHECK(walk.cover().distance == -1);
    // All but one case of the third problem, the last of distance 1; out of order.
    for (auto at = indices.rbegin(); at != indices.rend(); ++at)
        if (*at != 5) walk.answered(*at, Verdict::passed);
    CHECK(walk.cover().print() == "the one problem up to distance 0 and 4 beyond");
    walk.answered(5, Verdict::passed);
    CHECK(walk.cover().print() == "all 6 problems that it supports");
}

TEST_CASE("while a row still walks, the distance that it walks is not claimed") {
    Walk walk(six);
    for (int i = 0; i < 4; ++i) walk.answered(walk.next()->index, Verdict::passed);
    CHECK(walk.cover().print() == "the one problem up to distance 0 and 1 beyond");
    for (int i = 0; i < 2; ++i) walk.answered(walk.next()->index, Verdict::passed);
    // That no other of distance 1 follows is not known yet.
    CHECK(walk.cover().distance == 0);
    CHECK(walk.next());
    CHECK(walk.cover().distance == 1);
}

TEST_CASE("problems that compared only zeros are told apart") {
    Walk walk(six, {.distance = 1});
    // One case that compared something is enough.
    walk_through(walk, [](const Case& dense) {
        if (dense.problem.scalar("n") == 2) return Verdict::vacuous;
        return dense.data.seed % 2 == 0 ? Verdict::skipped : Verdict::passed;
    });
    CHECK(walk.cover().compared == 2);
    CHECK(walk.cover().problems == 3);
}

TEST_CASE("a search that was given up claims no end") {
    Walk walk({"in=1", "in=2"}, {}, true);
    walk_through(walk, pass);
    CHECK(walk.cover().gave_up);
    CHECK_FALSE(walk.cover().is_all);
    CHECK(
        walk.cover().print() ==
        "the one problem up to distance 0 and 1 beyond; no further one was found that it supports");
}

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
        bench.suite.on_shrink = [kind = kind](const Case& found, const Outcome& outcome,
                                              const CaseRunner&) {
            return Shrunk{{{kind, 1, 2}}, found, outcome, 1};
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
