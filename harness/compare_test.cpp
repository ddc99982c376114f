// SPDX-License-Identifier: Apache-2.0
#include "harness/compare.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace gradverify {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

Expected expect(std::vector<double> values, std::vector<double> bounds = {}) {
    const auto count = static_cast<std::int64_t>(values.size());
    return {
        .tensor = "dw", .sizes = {count}, .values = std::move(values), .bounds = std::move(bounds)};
}

Comparison comparing(std::vector<double> got, const Expected& expected) {
    return compare(got, expected);
}

}  // namespace

TEST_CASE("without bounds only equality passes") {
    CHECK(comparing({1.0, 2.0}, expect({1.0, 2.0})).ok);
    CHECK_FALSE(comparing({1.0, std::nextafter(2.0, 3.0)}, expect({1.0, 2.0})).ok);
}

TEST_CASE("an error equal to the bound passes, one above it fails") {
    CHECK(comparing({1.5}, expect({1.0}, {0.5})).ok);
    CHECK_FALSE(comparing({1.5000001}, expect({1.0}, {0.5})).ok);
}

TEST_CASE("where there is no bound anything passes, and nothing has been compared") {
    Bounded overflow = Bounded(1e30) * Bounded(1e30);
    CHECK(bound_of(overflow) == no_bound);
    CHECK(twice(no_bound) == no_bound);
    CHECK(twice(bound_of(Bounded(0.1))) == 2.0 * Bounded(0.1).error());
    for (const double got : {0.0, 1.0, double(NAN), double(INFINITY)}) {
        const Comparison comparison =
            compare(std::span(&got, 1), Expected::within("y", {.sizes = {1}, .data = {overflow}}));
        CHECK(comparison.ok);
        CHECK_FALSE(comparison.saw_nonzero);
    }
}

TEST_CASE("a NaN never passes, whatever is expected and however large the bound") {
    CHECK_FALSE(comparing({nan}, expect({1.0}, {inf})).ok);
    CHECK_FALSE(comparing({nan}, expect({nan}, {1.0})).ok);
    CHECK_FALSE(comparing({1.0}, expect({nan}, {1.0})).ok);
    CHECK_FALSE(comparing({1.0}, expect({1.5}, {nan})).ok);
}

TEST_CASE("an infinity passes only where that infinity is expected") {
    CHECK(comparing({inf}, expect({inf}, {1.0})).ok);
    CHECK_FALSE(comparing({inf}, expect({-inf}, {1.0})).ok);
    CHECK_FALSE(comparing({inf}, expect({1.0}, {1e300})).ok);
}

TEST_CASE("one wrong element among many fails, is named, counted and marked") {
    std::vector<double> got(100, 1.0);
    got[42] = 3.0;
    got[7] = nan;
    Expected expected = expect(std::vector<double>(100, 1.0));
    expected.sizes = {4, 25};
    const Comparison result = compare(got, expected);
    CHECK_FALSE(result.ok);
    CHECK(result.map.wrong == 2);
    CHECK(result.map.total == 100);
    REQUIRE(result.worst.size() == 2);
    CHECK(result.worst[0].index == Sizes{0, 7});
    CHECK(result.worst[1].index == Sizes{1, 17});
    CHECK(result.worst[1].got == 3.0);
    CHECK(result.worst[1].want == 1.0);
    CHECK(result.map.marks[42] == '#');
    CHECK(result.map.marks[41] == '.');
}

TEST_CASE("another number of elements is a mistake of the caller") {
    CHECK_THROWS_AS(comparing({1.0}, expect({1.0, 2.0})), std::logic_error);
}

TEST_CASE("only zeros expected is vacuous, and so is an empty output") {
    CHECK(comparing({0.0, 0.0}, expect({0.0, 0.0})).outcome("").verdict == Verdict::vacuous);
    CHECK(comparing({}, expect({})).outcome("").verdict == Verdict::vacuous);
}

TEST_CASE("what zeros would pass too is vacuous") {
    CHECK(comparing({0.5}, expect({0.5}, {1.0})).outcome("").verdict == Verdict::vacuous);
    CHECK(comparing({0.5}, expect({0.5}, {0.5})).outcome("").verdict == Verdict::vacuous);
    CHECK(comparing({3.0}, expect({3.0}, {INFINITY})).outcome("").verdict == Verdict::vacuous);
    CHECK(comparing({0.5}, expect({0.5}, {0.25})).outcome("").verdict == Verdict::passed);
    CHECK(comparing({0.5, 3.0}, expect({0.5, 3.0}, {1.0, 1.0})).outcome("").verdict ==
          Verdict::passed);
    CHECK(comparing({0.0, 1.0}, expect({0.0, 1.0})).outcome("").verdict == Verdict::passed);
}

TEST_CASE("the largest share of a bound is reported") {
    CHECK(comparing({1.25, 2.1}, expect({1.0, 2.0}, {1.0, 1.0})).error_over_bound ==
          doctest::Approx(0.25));
}

TEST_CASE("one failed output fails them all") {
    const Comparison good = comparing({1.0}, expect({1.0}));
    const Comparison bad = comparing({1.0}, expect({2.0}));
    const Outcome outcome = combine(std::vector{good, bad}, "is wrong");
    CHECK(outcome.verdict == Verdict::failed);
    CHECK(outcome.message == "is wrong");
    CHECK(outcome.maps.size() == 1);
}

}  // namespace gradverify
