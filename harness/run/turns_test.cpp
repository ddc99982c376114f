// SPDX-License-Identifier: Apache-2.0
#include "harness/run/turns.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace gradverify;

namespace {

constexpr Room all{true, true, true};

std::vector<std::size_t> served(Turns& turns, int cases, const std::vector<double>& seconds) {
    std::vector<std::size_t> rows;
    for (int i = 0; i < cases; ++i) {
        rows.push_back(turns.next(all, [](std::size_t) { return Turn::now; }).value());
        turns.began(rows.back());
        turns.ended(rows.back(), seconds[rows.back()]);
    }
    return rows;
}

}  // namespace

TEST_CASE("rows are served in turn, whatever their cases take") {
    Turns turns({2, 0, 1}, false);
    CHECK(served(turns, 5, {1.0, 5.0, 9.0}) == std::vector<std::size_t>{2, 0, 1, 2, 0});
}

TEST_CASE("under a time limit rows get equal times, after a first case each") {
    Turns turns({2, 0, 1}, true);
    CHECK(served(turns, 8, {1.0, 4.0, 2.0}) == std::vector<std::size_t>{2, 0, 1, 0, 2, 0, 0, 2});
}

TEST_CASE("a row that has its due waits for those that have not, whatever they take") {
    Turns turns({0, 1}, true);
    CHECK(served(turns, 4, {1.0, 9.0}) == std::vector<std::size_t>{0, 1, 0, 0});
    turns.has_its_due(0);
    CHECK(served(turns, 2, {1.0, 9.0}) == std::vector<std::size_t>{1, 1});
    turns.has_its_due(1);
    CHECK(served(turns, 1, {1.0, 9.0}) == std::vector<std::size_t>{0});
}

TEST_CASE("rows of kernels that have come to an end get back what others have lost") {
    Turns turns({0, 1, 2, 3}, true);
    const std::vector<double> seconds(4, 0.5);
    CHECK(served(turns, 2, seconds) == std::vector<std::size_t>{0, 1});
    turns.is_proven(1, true);
    turns.lost(1.0);
    CHECK(served(turns, 4, seconds) == std::vector<std::size_t>{1, 1, 2, 3});
    // Nobody waits where none of them has more.
    turns.lost(1.0);
    const auto only = [](std::size_t row) { return row == 1 ? Turn::never : Turn::now; };
    CHECK(turns.next(all, only) == 0);
    CHECK(turns.next({false, true, true}, only) == std::nullopt);
}

TEST_CASE("rows of very different costs have what they are due before the cheap ones have more") {
    constexpr int due = 50;
    const std::vector<double> seconds{0.001, 0.1, 0.002, 0.4};
    Turns turns({0, 1, 2, 3}, true);
    std::vector<int> cases(4);
    while (cases[1] < due || cases[3] < due) {
        const std::size_t row = served(turns, 1, seconds).front();
        if (++cases[row] == due) turns.has_its_due(row);
    }
    CHECK(cases == std::vector(4, due));
    for (const std::size_t row : served(turns, 1000, seconds)) ++cases[row];
    CHECK(cases[0] > 4 * due);
    CHECK(cases[3] == due);
}

TEST_CASE("what a row's running cases will take is expected of those before") {
    Turns turns({0, 1}, true);
    CHECK(served(turns, 2, {0.1, 0.5}) == std::vector<std::size_t>{0, 1});
    std::vector<std::size_t> rows;
    for (int i = 0; i < 6; ++i) {
        rows.push_back(turns.next(all, [](std::size_t) { return Turn::now; }).value());
        turns.began(rows.back());
    }
    // 0.2, 0.3, 0.4 and 0.5 seconds of the first, and of two that have had the same the first.
    CHECK(rows == std::vector<std::size_t>{0, 0, 0, 0, 0, 1});
}

TEST_CASE("a row waits for its turn, and one that takes no more is not asked again") {
    for (const bool shares_time : {false, true}) {
        Turns turns({0, 1, 2}, shares_time);
        std::vector<int> asked(3);
        const auto turn_of = [&](std::size_t row) {
            ++asked[row];
            return row == 0 ? Turn::never : row == 1 ? Turn::later : Turn::now;
        };
        CHECK(turns.next(all, turn_of) == 2);
        CHECK(turns.next(all, turn_of) == 2);
        CHECK(asked == std::vector<int>{1, 2, 2});
        const auto none = [](std::size_t) { return Turn::later; };
        CHECK_FALSE(turns.next(all, none));
        CHECK(turns.next(all, [](std::size_t row) { return row == 1 ? Turn::now : Turn::later; }) ==
              1);
    }
}

TEST_CASE("a row that waits for workers without room keeps none waiting, and is not asked") {
    for (const bool shares_time : {false, true}) {
        CAPTURE(shares_time);
        Turns turns({0, 1, 2, 3}, shares_time);
        turns.set_kind(0, RowKind::left_by_clients);
        turns.set_kind(1, RowKind::one_at_a_time);
        std::vector<int> asked(4);
        const auto now = [&](std::size_t row) {
            ++asked[row];
            return Turn::now;
        };
        CHECK(turns.next({true, false, false}, now) == 2);
        CHECK(turns.next({false, false, true}, now) == 1);
        CHECK(turns.next({false, true, false}, now) == 0);
        CHECK_FALSE(turns.next({false, false, false}, now));
        CHECK(asked == std::vector<int>{1, 1, 1, 0});
        turns.set_kind(3, RowKind::left_by_clients);
        turns.set_kind(0, RowKind::usual);
        CHECK(turns.next({false, true, false}, now) == 3);
        CHECK(turns.next({true, false, false}, now) == 0);
    }
}

TEST_CASE("under a time limit the row of any kind comes next that has had the least time") {
    Turns turns({0, 1}, true);
    turns.set_kind(1, RowKind::left_by_clients);
    CHECK(served(turns, 6, {1.0, 2.0}) == std::vector<std::size_t>{0, 1, 0, 0, 1, 0});
}
