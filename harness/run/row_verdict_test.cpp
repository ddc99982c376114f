// SPDX-License-Identifier: Apache-2.0
// What a row comes to that neither failed nor errored, at the edges of each verdict.
#include "harness/run/row_verdict.hpp"

#include <doctest/doctest.h>

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
    CHECK(decided({.cases = 10, .passed = 1, .refused = 9}, skips) == "passed: ");
    CHECK(decided({.cases = 9, .passed = 0, .refused = 9}, {{"too large", 9}}) ==
          "skipped: too large");
    CHECK(decided({.cases = 100, .passed = 9, .refused = 91}, skips).starts_with("errored: "));
    CHECK(decided({.cases = 100, .passed = 10, .refused = 90}, skips) == "passed: ");
}
