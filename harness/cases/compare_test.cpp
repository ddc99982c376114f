// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/compare.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>

namespace gradverify {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

Expected expect(std::vector<double> values, std::vector<Bound> bounds = {}) {
    const auto count = static_cast<std::int64_t>(values.size());
    return {
        .tensor = "dw", .sizes = {count}, .values = std::move(values), .bounds = std::move(bounds)};
}

Comparison comparing(std::vector<double> got, const Expected& expected) {
    return compare(got, expected);
}

/// The places of the worst elements of a tensor of one axis.
Sizes worst(const Comparison& comparison) {
    Sizes places;
    for (const WrongElement& element : comparison.worst) places.push_back(element.index.front());
    return places;
}

}  // namespace

TEST_CASE("where there is no bound anything passes, and nothing has been compared") {
    Bounded overflow = Bounded(1e30) * Bounded(1e30);
    CHECK_FALSE(bound_of(overflow).is_limited());
    CHECK_FALSE((bound_of(overflow) + 1.0).is_limited());
    CHECK_FALSE((Bound(1.0) + bound_of(overflow)).is_limited());
    const Bound bound = bound_of(Bounded(0.1));
    CHECK((bound + bound).most() == 2.0 * Bounded(0.1).error());
    CHECK((Bound(1.0) + Bound::none()) == Bound::none());
    for (const Bound& sum : {Bound::finite() + Bound(1e300), Bound(1e300) + Bound::finite()})
        CHECK(sum == Bound::finite());
    for (const double got : {0.0, 1.0, double(NAN), double(INFINITY)}) {
        const Comparison comparison =
            compare(std::span(&got, 1), Expected::within("y", {.sizes = {1}, .data = {overflow}}));
        CHECK(comparison.ok);
        CHECK_FALSE(comparison.saw_nonzero);
        CHECK(comparison.error_over_bound == 0.0);
    }
}

TEST_CASE("an element is right within its bound, and a NaN or another infinity never is") {
    struct Element {
        double got, want;
        std::vector<Bound> bounds;
        bool ok;
    };
    const double above = std::nextafter(1.5, 2.0);
    for (const Element& element : std::vector<Element>{
             {2.0, 2.0, {}, true},
             {std::nextafter(2.0, 3.0), 2.0, {}, false},
             {1.5, 1.0, {0.5}, true},
             {above, 1.0, {0.5}, false},
             {0.5, 1.0, {0.5}, true},
             {0.25, 1.0, {0.5}, false},
             {-1.0, 1.0, {0.5}, false},
             {nan, 1.0, {inf}, false},
             {nan, nan, {1.0}, false},
             {1.0, nan, {1.0}, false},
             {1.0, 1.5, {nan}, false},
             {inf, inf, {1.0}, true},
             {inf, -inf, {1.0}, false},
             {inf, 1.0, {1e300}, false},
         }) {
        INFO("got ", element.got, ", want ", element.want);
        CHECK(comparing({element.got}, expect({element.want}, element.bounds)).ok == element.ok);
    }
}

TEST_CASE("a NaN that is expected of data with NaN passes, and no other value in its place") {
    Expected expected = expect({nan, 2.0});
    expected.admits_nan = true;
    const Comparison comparison = comparing({-nan, 2.0}, expected);
    CHECK(comparison.ok);
    CHECK(comparison.saw_nonzero);
    CHECK(comparing({nan, 0.0}, expected).map.wrong == 1);
    CHECK(comparing({2.0, 2.0}, expected).map.wrong == 1);
    CHECK(comparing({nan, nan}, expected).map.wrong == 1);
    // Zeros would not have passed.
    Expected alone = expect({nan});
    alone.admits_nan = true;
    CHECK(combine(std::vector{comparing({nan}, alone)}, "").verdict == Verdict::passed);
}

TEST_CASE("the worst three are named, by their share of the bound, then by their place") {
    // Errors of 4, 3, 3, 8 and 1 bounds; the bound of 0 allows nothing.
    Expected expected = expect({1.0, 0.0, 0.0, 0.0, 0.0, 1.0}, {1.0, 2.0, 3.0, 0.0, 2.0, 1.0});
    expected.sizes = {2, 3};
    const Comparison result = comparing({-3.0, 6.0, 9.0, 8.0, 2.5, 1.0}, expected);
    CHECK_FALSE(result.ok);
    REQUIRE(result.worst.size() == 3);
    CHECK(result.worst[0].index == Sizes{1, 0});
    CHECK(result.worst[0].bound == 0.0);
    CHECK(result.worst[1].index == Sizes{0, 0});
    CHECK(result.worst[1].got == -3.0);
    CHECK(result.worst[1].want == 1.0);
    CHECK(result.worst[1].bound == 1.0);
    CHECK(result.worst[1].tensor == "dw");
    CHECK(result.worst[2].index == Sizes{0, 1});
    CHECK(result.map.wrong == 5);
    CHECK(result.map.total == 6);
    CHECK(result.map.tensor == "dw");
    CHECK(result.map.sizes == Sizes{2, 3});
    CHECK(result.map.marks == "#####.");
    const Comparison exact = comparing({99.0, 3.0}, expect({100.0, 1.0}));
    CHECK(worst(exact) == Sizes{1, 0});
    CHECK(exact.worst[0].bound == 0.0);
    CHECK(worst(comparing({1e-30, 2e-30}, expect({0.0, 0.0}))) == Sizes{1, 0});
    // What is no number is worse than anything, the first of them first.
    CHECK(worst(comparing({1e30, nan, inf, 1e30}, expect({1.0, 1.0, 1.0, 1.0}))) == Sizes{1, 2, 0});
    CHECK(worst(comparing({5.0, -inf}, expect({1.0, 1.0}))) == Sizes{1, 0});
}

TEST_CASE("a map of up to 4096 elements is drawn") {
    for (const std::size_t count : {4096, 4097}) {
        std::vector<double> got(count, 1.0);
        got.back() = 2.0;
        const Comparison result = comparing(got, expect(std::vector<double>(count, 1.0)));
        CHECK(result.map.marks.size() == (count == 4096 ? 4096 : 0));
        CHECK(result.map.wrong == 1);
    }
}

TEST_CASE("a flat offset has an index, whatever the sizes") {
    CHECK(unflatten(23, {2, 3, 4}) == Sizes{1, 2, 3});
    CHECK(unflatten(4, {2, 3, 4}) == Sizes{0, 1, 0});
    CHECK(unflatten(1, {2, 1}) == Sizes{1, 0});
    CHECK(unflatten(0, {2, 0}) == Sizes{0, 0});
    CHECK(unflatten(0, {}).empty());
}

TEST_CASE("what is expected of a bounded array is its values, each with its bound") {
    const Array<Bounded> bounded{{2}, {Bounded(3.0) * Bounded(5.0), Bounded(-1.0)}};
    const Expected within = Expected::within("dw", bounded);
    CHECK(within.values == std::vector<double>{15.0, -1.0});
    CHECK(within.bounds == std::vector<Bound>{bounded.data[0].error(), 0.0});
    CHECK(within.sizes == Sizes{2});
    CHECK(Expected::exactly("dw", {{2}, {1.0, 2.0}}).bounds.empty());
}

TEST_CASE("another number of elements is a mistake of the caller") {
    CHECK_THROWS_AS(comparing({1.0}, expect({1.0, 2.0})), std::logic_error);
}

TEST_CASE("what zeros would pass too is vacuous, and so is an empty output") {
    const auto verdict = [](const std::vector<double>& values, std::vector<Bound> bounds) {
        const Comparison one = comparing(values, expect(values, std::move(bounds)));
        return combine({&one, 1}, "").verdict;
    };
    CHECK(verdict({}, {}) == Verdict::vacuous);
    CHECK(verdict({0.0, 0.0}, {}) == Verdict::vacuous);
    CHECK(verdict({0.5}, {1.0}) == Verdict::vacuous);
    CHECK(verdict({0.5}, {0.5}) == Verdict::vacuous);
    CHECK(verdict({3.0}, {INFINITY}) == Verdict::vacuous);
    CHECK(verdict({0.5}, {0.25}) == Verdict::passed);
    CHECK(verdict({0.5, 3.0}, {1.0, 1.0}) == Verdict::passed);
    CHECK(verdict({0.0, 1.0}, {}) == Verdict::passed);
}

TEST_CASE("the largest share of a bound is reported, of what passes only") {
    const auto share = [](std::vector<double> got, std::vector<double> want,
                          std::vector<Bound> bounds) {
        return comparing(std::move(got), expect(std::move(want), std::move(bounds)))
            .error_over_bound;
    };
    CHECK(share({1.25, 2.1}, {1.0, 2.0}, {1.0, 1.0}) == doctest::Approx(0.25));
    CHECK(share({1.5, 2.25}, {2.0, 2.0}, {1.0, 1.0}) == 0.5);
    CHECK(share({2.0, 2.25}, {2.0, 2.0}, {0.0, 0.5}) == 0.5);
    CHECK(share({2.25, inf, inf}, {2.0, 2.0, inf}, {0.5, inf, inf}) == 0.5);
    CHECK(share({2.25, 9.0}, {2.0, 2.0}, {0.5, 1.0}) == 0.5);
    const Comparison third = comparing({1.25}, expect({1.0}, {1.0}));
    const Comparison half = comparing({1.5}, expect({1.0}, {1.0}));
    CHECK(combine(std::vector{third, half}, "").error_over_bound == 0.5);
    CHECK(combine(std::vector{half, third}, "").error_over_bound == 0.5);
}

TEST_CASE("what another formula may give is no failure; its worst and the tensor's size are told") {
    Expected expected = expect({0.0, 0.0, inf, 5.0, 1.0});
    expected.by_any_formula = [] { return std::vector<Bound>(5, 1.0); };
    const Comparison comparison = comparing({1e-30, 2e-30, inf, 5.0, 1.0}, expected);
    CHECK(comparison.ok);
    REQUIRE(comparison.imprecision);
    CHECK(comparison.imprecision->elements == 2);
    CHECK(comparison.imprecision->worst.index == Sizes{1});
    CHECK(comparison.imprecision->largest == 5.0);
    CHECK(worst(comparing({1e-30, 2.0, inf, 5.0, 1.0}, expected)) == Sizes{1});
}

TEST_CASE("one failed output fails them all") {
    const Comparison good = comparing({1.0}, expect({1.0}));
    const Comparison bad = comparing({1.0}, expect({2.0}));
    const Outcome outcome = combine(std::vector{good, bad}, "is wrong");
    CHECK(outcome.verdict == Verdict::failed);
    CHECK(outcome.message == "is wrong");
    CHECK(outcome.maps.size() == 1);
    CHECK(outcome.worst.size() == 1);
    const Outcome passed = combine(std::vector{good, comparing({0.0}, expect({0.0}))}, "is wrong");
    CHECK(passed.verdict == Verdict::passed);
    CHECK(passed.message.empty());
}

TEST_CASE(
    "where any number passes, the others are wrong by no limit, and numbers count for nothing") {
    const Expected expected = expect({1.0, 2.0}, {Bound::finite(), Bound::finite()});
    CHECK(comparing({1e300, 3.0}, expected).error_over_bound == 0.0);
    const Comparison wrong = comparing({inf, 3.0}, expected);
    REQUIRE(wrong.worst.size() == 1);
    CHECK(wrong.worst.front().bound == inf);
}

TEST_CASE("the numbers of a small tensor with a wrong element are kept, and of a large one none") {
    for (const std::size_t size : {std::size_t{1024}, std::size_t{1025}}) {
        std::vector<double> got(size, 1.0);
        const Expected expected = expect(got);
        got.front() = 2.0;
        const auto map = comparing(got, expected).map;
        CHECK(map.marks.size() == size);
        CHECK(map.got == (size == 1024 ? got : std::vector<double>()));
        CHECK(map.want == (size == 1024 ? expected.values : std::vector<double>()));
    }
}

}  // namespace gradverify
