// SPDX-License-Identifier: Apache-2.0
#include "harness/registry/factors.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>

#include "harness/testing/made_operator.hpp"

using namespace gradverify;
using namespace gradverify::testing;

static Operator with_factor() {
    Operator op = toy_operator();
    op.factors = {{.name = "n against in",
                   .levels = {"smaller", "equal", "larger"},
                   .parameters = {"n", "in"},
                   .level_of_values = [](std::span<const std::int64_t> v) {
                       return v[0] < v[1] ? 0 : v[0] == v[1] ? 1 : 2;
                   }}};
    return op;
}

static std::vector<Factor> factors(const Operator& op, int rank) {
    return factors_of(op, toy_kernel("own"), rank);
}

/// Adds the pairs of a problem; how many are new.
static std::int64_t add(LevelPairs& pairs, const Operator& op, const std::string& text) {
    const Problem problem = Problem::parse(op.space, text);
    const std::vector<int> levels = pairs.levels_of(problem);
    const std::int64_t expected = pairs.count_new(levels, op.is_empty(problem));
    CHECK(pairs.add(levels, op.is_empty(problem)) == expected);
    return expected;
}

/// The name of a factor's level for the value of its one parameter.
static std::string level_of(const Factor& factor, std::int64_t value) {
    const std::array<std::int64_t, 1> values{value};
    return factor.levels.at(static_cast<std::size_t>(factor.level_of_values(values)));
}

TEST_CASE("parameters that the declaration holds fixed, or equal, are no factors") {
    const auto free = [](const KernelDeclaration& own, int rank) {
        return free_slots(toy_operator(), own, rank);
    };
    CHECK(free(toy_kernel("own").where("n", equals(1)), 2) == std::vector{1, 2});
    CHECK(free(toy_kernel("own").where("in_w", same_as("n")), 2) == std::vector{0, 1});
    const auto chain = toy_kernel("own").where("in_w", equals(1)).where("n", same_as("in_w"));
    CHECK(free(chain, 2) == std::vector{1});
    CHECK(free(chain, 1).empty());
    const auto range = toy_kernel("own").where("n", between(1, 2));
    CHECK(free(range, 2) == std::vector{0, 1, 2});
    CHECK(free(range, 1) == std::vector{0, 1});
}

TEST_CASE("sizes fall into levels around the powers of two, what steps over an image by value") {
    Operator op = toy_operator();
    std::vector<ParameterSpec> parameters = op.space.parameters();
    parameters.push_back({.name = "stride", .kind = ParameterKind::per_axis});
    op.space = ParameterSpace(parameters, 1, 1);
    const std::vector<Factor> all = factors(op, 1);
    REQUIRE(all.size() == 3);
    const std::map<std::string, std::vector<std::int64_t>> sizes{{"0", {0}},
                                                                 {"1", {1}},
                                                                 {"2 or 3", {2, 3}},
                                                                 {"4, 8, 16 or 32", {4, 8, 32}},
                                                                 {"7, 15 or 31", {7, 15, 31}},
                                                                 {"5, 9, 17 or 33", {5, 9, 33}},
                                                                 {"another below 63", {6, 10, 62}},
                                                                 {"63 or more", {63, 64, 65, 768}}};
    const std::map<std::string, std::vector<std::int64_t>> steps{
        {"1", {1}}, {"2", {2}}, {"3", {3}}, {"4 to 7", {4, 7}}, {"8 or more", {8, 100}}};
    const char* const names[] = {"n", "in_w", "stride_w"};
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(all[i].name == names[i]);
        CHECK(all[i].level_of_nothing == (i == 2 ? -1 : 0));
        for (const auto& [level, values] : i == 2 ? steps : sizes)
            for (const std::int64_t value : values) CHECK(level_of(all[i], value) == level);
    }
}

TEST_CASE("a declared factor is one for each axis of its parameters") {
    const Operator op = with_factor();
    const std::vector<Factor> all = factors(op, 2);
    REQUIRE(all.size() == 5);
    CHECK(all[3].name == "n against in on axis 0");
    CHECK(all[4].name == "n against in on axis 1");
    CHECK(all[4].slots == std::vector{0, 2});
    const Problem problem = Problem::parse(op.space, "n=2,in=2x5");
    CHECK(all[3].level_of(problem) == 1);
    CHECK(all[4].level_of(problem) == 0);
}

TEST_CASE("pairs of levels are counted once, and nothing is met by an empty tensor but nothing") {
    const Operator op = with_factor();
    LevelPairs pairs(factors(op, 1));
    CHECK(add(pairs, op, "n=2,in=4") == 3);
    CHECK(add(pairs, op, "n=3,in=8") == 0);
    CHECK(add(pairs, op, "n=3,in=3") == 3);
    // `n` smaller than `in` and `in` a power of two were met before, but not with five.
    CHECK(add(pairs, op, "n=5,in=8") == 2);
    CHECK(add(pairs, op, "n=0,in=8") == 2);
    CHECK(pairs.count() == 10);
    CHECK(pairs.is_met(0, 0, 1, 3));
    CHECK(pairs.is_met(1, 3, 0, 0));
    CHECK_FALSE(pairs.is_met(0, 0, 1, 1));
    CHECK_FALSE(pairs.is_met(0, 0, 0, 0));
}

TEST_CASE("levels without their bits are refused before memory is taken for these") {
    const Factor factor{.name = "n", .levels = std::vector<std::string>(1 << 20)};
    CHECK_THROWS_AS(LevelPairs({factor}, {1}), std::invalid_argument);
}

TEST_CASE("what has no axes makes one factor, and a count from zero on has no level of nothing") {
    Operator op = with_factor();
    op.space =
        ParameterSpace({{.name = "n", .minimum = 0},
                        {.name = "in", .kind = ParameterKind::per_axis, .carries_rank = true},
                        {.name = "flag", .default_value = 0, .minimum = 0}},
                       1, 2);
    op.factors.front().name = "n against flag";
    op.factors.front().parameters = {"n", "flag"};
    const std::vector<Factor> all = factors(op, 2);
    REQUIRE(all.size() == 5);
    CHECK(all[0].level_of_nothing == 0);
    CHECK(all[3].name == "flag");
    CHECK(all[3].level_of_nothing == -1);
    CHECK(all[4].name == "n against flag");
    CHECK(all[4].slots == std::vector{0, 3});
}

TEST_CASE("a parameter that a rank lacks is no part of a factor there") {
    Operator op = with_factor();
    op.factors.front().parameters = {"in_h", "n"};
    const std::vector<Factor> all = factors(op, 1);
    REQUIRE(all.size() == 3);
    CHECK(all[2].name == "n against in");
    CHECK(all[2].slots == std::vector{0});
}

TEST_CASE("of an empty problem the pairs with what makes it empty count, whichever comes first") {
    const Operator op = toy_operator();
    std::vector<Factor> all = factors(op, 2);
    std::ranges::reverse(all);
    LevelPairs pairs(all);
    CHECK(add(pairs, op, "n=0,in=8x3") == 2);
    CHECK(pairs.is_met(0, 2, 2, 0));
    CHECK(pairs.is_met(1, 3, 2, 0));
    CHECK_FALSE(pairs.is_met(0, 2, 1, 3));
}

TEST_CASE("pairs with a first level are missing too, and none is counted twice") {
    const Operator op = with_factor();
    const LevelPairs none(factors(op, 1));
    LevelPairs some = none;
    CHECK(add(some, op, "n=2,in=3") == 3);
    CHECK(add(some, op, "n=0,in=8") == 2);
    CHECK(none.missing_of(some, 9).count == 5);
    CHECK(some.add(std::vector{2, 0, 2}, true) == 2);
    CHECK(none.missing_of(some, 9).count == 7);
    CHECK(some.missing_of(none, 9).count == 0);
}

TEST_CASE("levels of any number have a bit for each other level, in whole words of 64") {
    for (const auto& [levels, words] : {std::pair(63u, 1u), {64u, 1u}, {65u, 2u}, {129u, 3u}}) {
        const Factor all{.name = "n", .levels = std::vector<std::string>(levels)};
        CHECK(LevelPairs({all}).bits().size() == levels * words);
        CHECK(LevelPairs({all}, std::vector<std::uint64_t>(levels * words)).count() == 0);
    }
    const Factor long_one{.name = "n", .levels = std::vector<std::string>(127)},
        short_one{.name = "c", .levels = {"0", "1"}};
    LevelPairs pairs({long_one, short_one});
    for (const int level : {0, 62, 63, 126}) {
        CHECK(pairs.count_new(std::vector{level, 0}, false) == 1);
        CHECK(pairs.add(std::vector{level, 0}, false) == 1);
        CHECK(pairs.count_new(std::vector{level, 0}, false) == 0);
    }
}

TEST_CASE(
    "pairs of two factors are counted where both have met them, and added to the same alone") {
    const auto three = [](const std::string& name, const std::string& level) {
        std::vector<Factor> factors(3, {.name = name, .levels = {"0", level}});
        return factors;
    };
    LevelPairs some(three("n", "1")), more = some;
    for (const std::vector<int>& levels : {std::vector{0, 0, 0}, {0, 1, 1}, {1, 0, 0}})
        more.add(levels, false);
    some = more;
    some.add(std::vector{1, 1, 1}, false);
    for (const auto& [first, second] : {std::pair(0, 1), {0, 2}, {1, 0}, {2, 0}}) {
        CHECK(more.count_of(first, second, some) == 3);
        CHECK(some.count_of(first, second, more) == 3);
        CHECK(some.count_of(first, second, some) == 4);
    }
    CHECK(more.count_of(1, 2, some) == 2);
    CHECK_FALSE(more.is_met(1, 1, 0, 1));
    CHECK_THROWS_AS(some.add(LevelPairs(three("c", "1"))), std::invalid_argument);
    CHECK_THROWS_AS(some.add(LevelPairs(three("n", "2"))), std::invalid_argument);
    more.add(some);
    CHECK(more.count() == some.count());
}
