// SPDX-License-Identifier: Apache-2.0
// What shrinking keeps when its time is up.
#include "harness/run/shrink_in_workers.hpp"

#include <doctest/doctest.h>

#include <string>

#include "harness/base/interrupt.hpp"
#include "harness/testing/fake_rows.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

class Failing : public Bench {
  public:
    Case at(const std::string& problem) const {
        return case_on(row("fail"), problems({problem}).front(), 0);
    }
    Shrunk shrink(const ShrinkLimits& limits, const Outcome& outcome = Outcome::failed("found")) {
        WorkerPool pool({.command = test_worker_command(), .jobs = 1});
        return shrink_in_workers(suite, pool, at("in=3"), outcome, limits);
    }
};

}  // namespace

TEST_CASE("when time is up shrinking ends at once, at the smallest case that has failed") {
    Failing bench;
    ShrinkLimits limits;
    std::int64_t too_late = 0;
    bench.suite.on_shrink = [&](const Case&, const Outcome& outcome, const CaseRunner& runner) {
        runner(bench.at("in=2"));
        runner(bench.at("in=3"));
        limits.deadline = std::chrono::steady_clock::time_point::min();
        for (; too_late < 100; ++too_late) runner(bench.at("in=1"));
        return Shrunk{{{Minimality::Kind::certified}}, bench.at("in=1"), outcome, 102};
    };
    const Shrunk shrunk = bench.shrink(limits);
    CHECK(too_late == 0);
    CHECK(shrunk.smallest.problem.print() == "in=2");
    CHECK(shrunk.outcome.message == "case 0");
    CHECK(shrunk.runs == 2);
    CHECK_FALSE(shrunk.minimal());
}

TEST_CASE("an interruption keeps the smallest case that has failed") {
    Failing bench;
    bench.suite.on_shrink = [&](const Case&, const Outcome&, const CaseRunner& runner) -> Shrunk {
        runner(bench.at("in=2"));
        throw Interrupted();
    };
    const Shrunk shrunk = bench.shrink({});
    CHECK(shrunk.smallest.problem.print() == "in=2");
    CHECK(shrunk.outcome.message == "case 0");
    CHECK(shrunk.runs == 1);
}

TEST_CASE("a failure for which no time is left stays as it was found") {
    Failing bench;
    const Shrunk shrunk = bench.shrink({.deadline = std::chrono::steady_clock::time_point::min()});
    CHECK(bench.shrunk.empty());
    CHECK(shrunk.smallest.problem.print() == "in=3");
    CHECK(shrunk.outcome.message == "found");
    CHECK(shrunk.runs == 0);
    CHECK_FALSE(shrunk.minimal());
}

TEST_CASE("a failure is told which integers overflow, whether or not its problem was explained") {
    Failing bench;
    bench.suite.overflows = "int overflow at a.cu:1: 2 * 3";
    for (const bool is_explained : {false, true}) {
        ShrinkLimits limits;
        if (is_explained) limits.explained = {bench.at("in=3").problem};
        CHECK(bench.shrink(limits).outcome.message == "case 0; int overflow at a.cu:1: 2 * 3");
    }
}

TEST_CASE("on a problem of the user's shrinking stays with the failure that was found there") {
    Failing bench;
    Outcome in_dk = Outcome::failed("found");
    in_dk.worst.push_back({.tensor = "dk"});
    for (const bool is_asked : {false, true}) {
        bench.suite.on_shrink = [&](const Case& found, const Outcome& outcome,
                                    const CaseRunner& runner) {
            const Verdict verdict = runner(bench.at("in=2")).verdict;
            CHECK(verdict == (is_asked ? Verdict::errored : Verdict::failed));
            return Shrunk{{}, verdict == Verdict::failed ? bench.at("in=2") : found, outcome, 1};
        };
        ShrinkLimits limits;
        limits.is_asked = is_asked;
        CHECK(bench.shrink(limits, in_dk).smallest.problem.print() == (is_asked ? "in=3" : "in=2"));
    }
}
