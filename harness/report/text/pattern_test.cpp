// SPDX-License-Identifier: Apache-2.0
#include "harness/report/text/pattern.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace {

using namespace gradverify;

std::string pattern(std::vector<std::int64_t> sizes, const std::string& marks) {
    return pattern_of({.tensor = "y",
                       .sizes = std::move(sizes),
                       .wrong = std::ranges::count(marks, '#'),
                       .total = std::ssize(marks),
                       .marks = marks});
}

}  // namespace

TEST_CASE("the period of wrong elements is told, and where it begins") {
    CHECK(pattern({9}, "..#..#..#") == "every 3rd element from 2 on");
    CHECK(pattern({10}, ".#.#.#.#.#") == "every 2nd element from 1 on");
    CHECK(pattern({2, 6}, "#..#..#..#..") == "columns 0, 3");
    CHECK(pattern({1, 7}, "#..#..#") == "every 3rd column from 0 on");
    CHECK(pattern({2, 4, 2}, "........##....##") == "rows 0, 3, in the last index of axis 0");
    std::string tiles(64, '.');
    for (std::size_t i = 15; i < 64; i += 16) tiles[i] = '#';
    CHECK(pattern({64}, tiles) == "every 16th element from 15 on");
    CHECK(pattern({1, 64}, tiles) == "every 16th column from 15 on");
}

TEST_CASE("edges and stretches of an axis are told") {
    CHECK(pattern({3, 3}, "..#..#..#") == "the last column");
    CHECK(pattern({3, 3}, "###......") == "the first row");
    CHECK(pattern({3, 3}, "...###...") == "row 1");
    CHECK(pattern({5}, "...##") == "every element from 3 on");
    CHECK(pattern({5}, "##...") == "every element up to 1");
    CHECK(pattern({5}, ".##..") == "every element from 1 to 2");
    CHECK(pattern({3, 4}, "......##..##") == "every column from 2 on, in every row from 1 on");
}

TEST_CASE("what follows no rule, or needs none, is not put into words") {
    CHECK(pattern({3, 3}, "#...#...#").empty());
    CHECK(pattern({3, 3}, "##.#.....").empty());
    CHECK(pattern({9}, "#.##..#.#").empty());
    CHECK(pattern({4}, "####").empty());
    CHECK(pattern({4}, ".#..").empty());
    CHECK(pattern_of({.tensor = "y", .sizes = {9000}, .wrong = 30, .total = 9000}).empty());
}
