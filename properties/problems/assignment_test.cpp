// SPDX-License-Identifier: Apache-2.0
// The values that classes may still take, in domains written by hand.
#include <doctest/doctest.h>

#include <optional>
#include <vector>

#include "properties/problems/solver.hpp"

namespace {

using namespace gradverify;

/// A class for each range, which divides the class behind it.
RankDomain chain(const std::vector<ValueRange>& ranges) {
    RankDomain domain;
    for (const ValueRange& range : ranges) {
        const int which = static_cast<int>(domain.classes.size());
        SlotClass one{.slots = {which},
                      .lowest = range.lowest,
                      .highest = range.highest,
                      .step = range.step,
                      .smallest = range.lowest};
        if (which > 0) one.divisors = {which - 1};
        if (which + 1 < static_cast<int>(ranges.size())) one.multiples = {which + 1};
        domain.classes.push_back(one);
        domain.class_of.push_back(which);
        domain.draw_order.push_back(which);
    }
    return domain;
}

using Value = std::optional<std::int64_t>;

}  // namespace

TEST_CASE("the nearest value fits to the others' values, and leaves room for what has none") {
    struct Line {
        ValueRange range;  ///< of the first class, which is a multiple of the two others
        std::vector<std::int64_t> values;  ///< of all three; -1: none
        int which;
        std::int64_t target;
        Value nearest;
    };
    const ValueRange any{0, 1 << 20}, narrow{4, 5}, even{2, 30, 2};
    const std::vector<Line> lines{{any, {-1, -1, -1}, 0, 7, 7},
                                  {any, {-1, 4, 6}, 0, 30, 24},
                                  // Zero divides only zero, and is a multiple of everything.
                                  {any, {-1, 0, -1}, 0, 7, 0},
                                  {any, {-1, 0, 5}, 0, 10, 0},
                                  {any, {-1, 2, 0}, 0, 10, 0},
                                  {any, {-1, 0, -1}, 2, 5, 5},
                                  {any, {0, -1, -1}, 1, 5, 5},
                                  {narrow, {-1, 0, -1}, 0, 4, {}},
                                  // A multiple with a value allows its divisors only.
                                  {any, {6, -1, -1}, 1, 0, 1},
                                  {any, {6, -1, -1}, 1, 4, 3},
                                  {any, {6, -1, -1}, 1, 5, 6},
                                  {any, {25, -1, -1}, 1, 11, 5},
                                  {even, {28, 4, -1}, 2, 20, 14},
                                  {even, {12, 4, -1}, 2, 5, 4},
                                  {even, {12, 4, -1}, 2, 10, 12},
                                  // One without a value must still get one.
                                  {narrow, {-1, -1, -1}, 1, 0, 1},
                                  {narrow, {-1, -1, -1}, 1, 3, 2},
                                  {narrow, {-1, -1, -1}, 1, 9, 5},
                                  {even, {-1, -1, -1}, 2, 15, 15},
                                  {even, {-1, -1, -1}, 2, 17, 16},
                                  {even, {-1, 4, -1}, 2, 9, 8},
                                  {even, {-1, 4, -1}, 2, 14, 14},
                                  {even, {-1, 4, -1}, 2, 11, 10},
                                  {even, {-1, 4, 7}, 0, 2, 28}};
    for (const Line& line : lines) {
        RankDomain domain;
        domain.classes = {{.slots = {0},
                           .lowest = line.range.lowest,
                           .highest = line.range.highest,
                           .step = line.range.step,
                           .divisors = {1, 2}},
                          {.slots = {1}, .lowest = 0, .highest = 1 << 20, .multiples = {0}},
                          {.slots = {2}, .lowest = 0, .highest = 1 << 20, .multiples = {0}}};
        Assignment values(domain);
        for (const int which : {0, 1, 2}) values.set(which, line.values[which]);
        CAPTURE(line.which);
        CAPTURE(line.target);
        CHECK(values.nearest(line.which, line.target) == line.nearest);
        CHECK(values.allows(line.which, line.target) == (line.nearest == line.target));
    }
}

TEST_CASE("where the smallest values lead into a dead end, larger ones are tried") {
    struct Line {
        const char* why;
        std::vector<ValueRange> chain;
        std::vector<std::int64_t> values;
    };
    for (const Line& line : {Line{"2 divides 2, 4 and 6, but what these divide does not divide 15",
                                  {{2, 15}, {2, 6}, {2, 15}, {15, 15}},
                                  {3, 3, 3, 15}},
                             {"a zero is given up, and the next divisor tried",
                              {{0, 1}, {0, 3}, {0, 3}, {5, 5}},
                              {1, 1, 1, 5}}}) {
        CAPTURE(line.why);
        const RankDomain domain = chain(line.chain);
        Assignment values(domain);
        REQUIRE(values.complete());
        for (const int which : {0, 1, 2, 3}) CHECK(values[which] == line.values[which]);
    }
}

TEST_CASE("a class that divides none is not tried again for what others lack") {
    RankDomain domain = chain({{2, 15}, {2, 6}, {2, 15}, {15, 15}});
    domain.classes.push_back({.slots = {4}, .lowest = 1, .highest = 1'000'000, .smallest = 1});
    domain.class_of.push_back(4);
    domain.draw_order = {0, 4, 1, 2, 3};
    Assignment values(domain);
    REQUIRE(values.complete());
    CHECK(values[0] == 3);
    CHECK(values[4] == 1);
}
