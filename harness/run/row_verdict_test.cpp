// SPDX-License-Identifier: Apache-2.0
// What a row comes to that neither failed nor errored, at the edges of each verdict.
#include "harness/run/row_verdict.hpp"

#include <doctest/doctest.h>

#include <csignal>

#include "harness/base/interrupt.hpp"
#include "harness/testing/made_operator.hpp"

namespace {

using namespace gradverify;

using Skips = std::map<std::string, std::int64_t>;

/// `verdict: message` of a row.
std::string decided(RowCounts counts, const Skips& skips = {}) {
    counts.skips = skips;
    const auto [verdict, reason] = verdict_of(counts);
    return std::string(name_of(verdict)) + ": " + reason;
}

}  // namespace

TEST_CASE("one case with a value other than zero is enough to pass") {
    CHECK(decided({.cases = 1, .passed = 1}) == "passed: ");
    CHECK(decided({.cases = 1000, .passed = 1}, {{"no forward kernel", 999}}) == "passed: ");
    CHECK(decided({.cases = 1}) == "vacuous: no case compared a non-zero expected value");
    CHECK(decided({.cases = 1000}) == "vacuous: no case compared a non-zero expected value");
}

TEST_CASE("a row that got no case has had no time, one that skipped all says why") {
    CHECK(decided({}) == "skipped: time");
    CHECK(decided({}, {{"too large", 1}}) == "skipped: too large");
    CHECK(decided({.cases = 3}, {{"too large", 3}}) == "skipped: too large");
    CHECK(decided({.cases = 5}, {{"a", 1}, {"b", 3}, {"c", 1}}) == "skipped: b");
    // The others compared nothing but zeros.
    CHECK(decided({.cases = 3}, {{"too large", 2}}) ==
          "vacuous: no case compared a non-zero expected value");
}

TEST_CASE("a row that time cut after a few cases of zeros is not vacuous") {
    const auto decided_of = [](std::int64_t cases, std::int64_t cut_of) {
        RowResult result;
        result.cases = cases;
        result.cut_of = cut_of;
        result.cut_short = cut_of > 0;
        decide_verdict(result);
        return std::string(name_of(result.verdict)) + ": " + result.message;
    };
    CHECK(decided_of(1, 4) == "skipped: time");
    CHECK(decided_of(9, 1000) == "skipped: time");
    CHECK(decided_of(10, 1000) == "vacuous: no case compared a non-zero expected value");
    CHECK(decided_of(4, 0) == "vacuous: no case compared a non-zero expected value");
}

TEST_CASE("more refused than nine in ten, of ten or more, is an error that names the reason") {
    const Skips skips{{"no such filter", 8}, {"too large", 2}};
    CHECK(decided({.cases = 10, .passed = 0, .refused = 10}, skips) ==
          "errored: the launcher refused 10 of 10 problems; declare what it does not support (no "
          "such filter)");
    CHECK(decided({.cases = 10, .refused = 10}).ends_with("(for no known reason)"));
    CHECK(decided({.cases = 10, .passed = 1, .refused = 9}, skips) == "passed: ");
    CHECK(decided({.cases = 9, .passed = 0, .refused = 9}, {{"too large", 9}}) ==
          "skipped: too large");
    CHECK(decided({.cases = 100, .passed = 9, .refused = 91}, skips).starts_with("errored: "));
    CHECK(decided({.cases = 100, .passed = 10, .refused = 90}, skips) == "passed: ");
}

TEST_CASE("a row that an interrupt cut short says so, unless it had something to say") {
    const InterruptScope scope;
    const auto decided_of = [](const RowCounts& counts) {
        RowResult result;
        static_cast<RowCounts&>(result) = counts;
        decide_verdict(result);
        return std::string(name_of(result.verdict)) + ": " + result.message;
    };
    const RowCounts zeros{.cases = 20, .cut_short = true};
    CHECK(decided_of(zeros).starts_with("vacuous: "));
    std::raise(SIGTERM);
    CHECK(decided_of(zeros) == "skipped: interrupted");
    CHECK(decided_of({.cases = 20}).starts_with("vacuous: "));
    CHECK(decided_of({.cut_short = true}) == "skipped: interrupted");
    CHECK(decided_of({.cases = 10, .refused = 10, .cut_short = true}) == "skipped: interrupted");
    CHECK(decided_of({.cases = 3, .cut_short = true, .skips = {{"too large", 3}}}) ==
          "skipped: too large");
    CHECK(decided_of({.cases = 3, .passed = 1, .cut_short = true}) == "passed: ");
}

TEST_CASE("of imprecise cases the one is kept that is most times its bound off") {
    const auto worst_of = [](WrongElement first, WrongElement second) {
        ImpreciseCases cases{2, "first", std::move(first), 1.0};
        cases.add({3, "second", std::move(second), 2.0});
        CHECK(cases.cases == 5);
        CHECK(cases.largest == (cases.worst_case == "first" ? 1.0 : 2.0));
        return cases.worst_case;
    };
    const WrongElement twice{.got = 6.0, .want = 4.0, .bound = 1.0};
    CHECK(worst_of(twice, {.got = 1.0, .want = 4.0, .bound = 1.0}) == "second");
    CHECK(worst_of(twice, {.got = 9.0, .want = 10.0, .bound = 1.0}) == "first");
    CHECK(worst_of(twice, {.got = 8.0, .want = 0.0, .bound = 8.0}) == "first");
    CHECK(worst_of(twice, {.got = -2.0, .want = -4.0, .bound = 1.0}) == "first");
}

TEST_CASE(
    "a passed case is noted with all that it showed, on problems of its own without numbers") {
    const Registry registry = testing::registry_of({testing::toy_kernel("any")});
    const Kernel& kernel = registry.kernels().front();
    RowResult result;
    result.row = {.kernel = &kernel, .device = "cpu"};
    const Case drawn = Case::parse("v1:toy.forward/any:bound:cpu:n=1,in=2:seed=1", registry);
    Outcome outcome = Outcome::passed();
    outcome.sensitivity = {.least_ulps = 2.0, .median_ulps = 3.0};
    outcome.uncompared = {.elements = 3, .total = 4};
    outcome.values = {.least = 0.5, .greatest = 3.0};
    outcome.crowding = {.threads = 64.0, .expected = 2.0, .seconds = 0.25};
    outcome.contiguous_alone = "dy";
    outcome.imprecision = {{.got = 6.0, .want = 4.0, .bound = 1.0}, 1, 8.0};
    note_passed(result, drawn, outcome, true);
    CHECK(result.contiguous_alone == "dy");
    CHECK(result.coverage.problems() == 0);
    CHECK_FALSE(result.imprecise);
    outcome.contiguous_alone = "dz";
    note_passed(result, drawn, outcome, false);
    CHECK(result.passed == 2);
    CHECK(result.contiguous_alone == "dy");
    CHECK(result.sensitivity.least_ulps == 2.0);
    CHECK(result.uncompared.elements == 3);
    CHECK(result.values.least == 0.5);
    CHECK(result.crowding.seconds == 0.25);
    CHECK(result.coverage.problems() == 1);
    REQUIRE(result.imprecise);
    CHECK(result.imprecise->cases == 1);
    CHECK(result.imprecise->largest == 8.0);
    Case strict = drawn;
    strict.setting.is_strict = true;
    CHECK(result.imprecise->worst_case == strict.print());
}
