// SPDX-License-Identifier: Apache-2.0
// Which values classes may still take, over domains written down by hand: chains in which each
// class divides the next.
#include <doctest/doctest.h>

#include <numeric>
#include <optional>
#include <vector>

#include "properties/problems/solver.hpp"
#include "properties/problems/value_range.hpp"

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

TEST_CASE("a divisor is zero only where its multiple may be zero too") {
    for (const std::int64_t lowest : {0, 1}) {
        const RankDomain domain = chain({{0, 5}, {lowest, 10}});
        Assignment values(domain);
        CHECK(values.allows(0, 0) == (lowest == 0));
        CHECK(values.allows(0, 5));
        values.set(0, 0);
        CHECK(values.nearest(1, 7) == (lowest == 0 ? Value(0) : std::nullopt));
    }
}

TEST_CASE("the nearest value is looked for up to both ends of the range") {
    const RankDomain domain = chain({{2, 5}, {1, 50}});
    Assignment values(domain);
    values.set(1, 25);
    CHECK(values.nearest(0, 2) == 5);
    CHECK(values.nearest(0, 5) == 5);
    values.set(1, 2);
    CHECK(values.nearest(0, 5) == 2);
    values.set(1, 49);
    CHECK(values.nearest(0, 3) == std::nullopt);
}

TEST_CASE("where the smallest values lead into a dead end, larger ones are tried") {
    // 2 divides 2, 4 and 6, but what these divide does not divide 15.
    const RankDomain domain = chain({{2, 15}, {2, 6}, {2, 15}, {15, 15}});
    Assignment values(domain);
    REQUIRE(values.complete());
    CHECK(values[0] == 3);
    CHECK(values[1] == 3);
    CHECK(values[2] == 3);
    CHECK(values[3] == 15);
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

TEST_CASE("a zero that leads into a dead end is given up, and the next divisor tried") {
    const RankDomain domain = chain({{0, 1}, {0, 3}, {0, 3}, {5, 5}});
    Assignment values(domain);
    REQUIRE(values.complete());
    CHECK(values[0] == 1);
    CHECK(values[3] == 5);
}

TEST_CASE("the search for values that fit gives up after twenty thousand") {
    // A prime's one divisor is the prime itself, so many values of the class's step away.
    constexpr std::int64_t prime = 50021, tried = 20000;
    for (const std::int64_t step : {1, 2, 3, 4, 5}) {
        const std::int64_t all = prime * step;
        for (const std::int64_t missing : {0, 1}) {
            const std::int64_t lowest = all - step * (tried + missing);
            const RankDomain domain = chain({{lowest, all, step}, {2, all}, {all, all}});
            CHECK(Assignment(domain).complete() == (missing == 0));
        }
    }
}
