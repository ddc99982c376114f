// SPDX-License-Identifier: Apache-2.0
#include "properties/data/whole_numbers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "harness/base/text.hpp"
#include "harness/declare_operator.hpp"
#include "properties/tests/drawn_values.hpp"

namespace gradverify {

using namespace testing;

namespace {

/// An operator that reads x[at[i]].
Operator reader(const Holds& holds, const Extent& length) {
    return declare_operator("reader")
        .parameter("n")
        .parameter("m")
        .input("x", {"n", "m"})
        .input("at", {length}, holds)
        .output("y", {"n"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto at = call.indices("at");
            for (std::int64_t i = 0; i < call.parameter("n"); ++i)
                call.output("y")(i) = call.input("x")(at(0) % call.parameter("n"), 0);
        });
}

/// The rows of many draws, dense ones and those of simple indices too.
std::set<std::vector<double>> rows_of(const Operator& op, const char* problem) {
    REQUIRE(joined(op.mistakes).empty());
    std::set<std::vector<double>> rows;
    for (std::uint64_t seed = 1; seed < 400; ++seed)
        for (const bool is_dense : {false, true})
            rows.insert(drawn(op, problem, "at", {.seed = seed, .is_dense = is_dense},
                              ValueKind::integers));
    return rows;
}

bool ascends(const std::vector<double>& row) { return std::ranges::is_sorted(row); }

bool has_empty_part(const std::vector<double>& offsets) {
    return std::ranges::adjacent_find(offsets) != offsets.end();
}

}  // namespace

TEST_CASE("permutations: all of them, and nothing else") {
    const auto rows = rows_of(reader(permutation_of("n"), "n"), "n=4");
    CHECK(rows.size() == 24);
    for (std::vector<double> row : rows) {
        std::ranges::sort(row);
        CHECK(row == std::vector<double>{0, 1, 2, 3});
    }
}

TEST_CASE("distinct indices: all choices in any order") {
    const auto rows = rows_of(reader(distinct_indices_below("n"), "m"), "n=4,m=2");
    CHECK(rows.size() == 12);
    for (const std::vector<double>& row : rows) CHECK(row[0] != row[1]);
}

TEST_CASE("sorted indices: all that ascend") {
    const auto rows = rows_of(reader(sorted_indices_below("n"), "m"), "n=3,m=2");
    CHECK(rows.size() == 6);
    CHECK(std::ranges::all_of(rows, ascends));
}

TEST_CASE("offsets: ascending from 0 to the total, with empty parts, one part, all in one") {
    const Operator op = reader(offsets_to("n"), one_more_than("m"));
    CHECK(rows_of(op, "n=5,m=1") == std::set<std::vector<double>>{{0, 5}});
    const auto rows = rows_of(op, "n=9,m=3");
    for (const std::vector<double>& row : rows) {
        CHECK(ascends(row));
        CHECK(row.front() == 0);
        CHECK(row.back() == 9);
    }
    for (const std::vector<double>& expected :
         {std::vector<double>{0, 0, 0, 9}, {0, 9, 9, 9}, {0, 0, 9, 9}, {0, 3, 6, 9}})
        CHECK(rows.contains(expected));
    // Every way to cut is drawn: two cuts of ten places.
    CHECK(rows.size() == 55);
    // Of many parts some are empty in about half of the draws.
    const auto many = rows_of(op, "n=400,m=8");
    const auto with_empty = std::ranges::count_if(many, has_empty_part);
    CHECK(with_empty > std::ssize(many) / 10);
    CHECK(with_empty < std::ssize(many) * 9 / 10);
}

TEST_CASE("dense numbers of a wide range come from all of it") {
    constexpr double most = 0x1p40;
    Array<double> array = filled<double>({100});
    fill_indices(array, Arrangement::free, {0.0, most}, true, SplitMix64(1));
    const auto is_high = [](double value) { return value > most / 2.0; };
    CHECK(std::ranges::count_if(array.data, is_high) > 30);
}

TEST_CASE("a mask is zeros and ones, of one byte") {
    const Operator op = reader(mask(), "m");
    CHECK(op.inputs[1].dtype == DType::u8);
    CHECK(rows_of(op, "n=1,m=2").size() == 4);
}

TEST_CASE("simple indices ascend in even steps, or are as high as their arrangement allows") {
    struct Line {
        Arrangement arrangement;
        int turn;
        Sizes sizes;
        std::vector<double> filled;
    };
    using enum Arrangement;
    for (const Line& line :
         {Line{free, 1, {4}, {2, 3, 4, 5}}, Line{free, 2, {2}, {8, 8}},
          Line{offsets, 1, {2, 4}, {2, 4, 6, 8, 2, 4, 6, 8}}, Line{ascending, 1, {3}, {2, 5, 8}},
          Line{offsets, 1, {1}, {2}}, Line{offsets, 2, {3}, {2, 8, 8}},
          Line{ascending, 2, {3}, {8, 8, 8}}, Line{distinct, 1, {3}, {6, 7, 8}},
          Line{distinct, 2, {3}, {8, 7, 6}}}) {
        auto array = filled<double>(line.sizes);
        fill_simple_indices(array, line.turn, line.arrangement, {2, 8});
        CHECK(array.data == line.filled);
    }
}

TEST_CASE("what a case of a seed holds is what was drawn, in order or not") {
    const Operator op = reader(offsets_to("n"), one_more_than("m"));
    const Data data{.seed = 3};
    CHECK(all_drawn(op, "n=9,m=3", data, ValueKind::integers).at("at").data ==
          drawn(op, "n=9,m=3", "at", data, ValueKind::integers));
}

TEST_CASE("listed data is completed, and what is not listed lies in order") {
    const Operator op = reader(offsets_to("n"), one_more_than("m"));
    const auto at = [&](std::vector<DataElement> elements) {
        return all_drawn(op, "n=5,m=3", {.is_explicit = true, .elements = std::move(elements)},
                         ValueKind::integers)
            .at("at")
            .data;
    };
    CHECK(at({}) == std::vector<double>{0, 0, 0, 5});
    CHECK(at({{"at", 1, 2.0}}) == std::vector<double>{0, 2, 2, 5});
    CHECK_THROWS_WITH_AS(at({{"at", 1, 4.0}, {"at", 2, 3.0}}),
                         "data: at[2] is 3: no element may be below the one before it, 4",
                         std::invalid_argument);
}

TEST_CASE("numbers beside a range, and the ends of the type, are put there if they lie outside") {
    const auto put = [](const ValueDomain& range, DType dtype) {
        std::set<double> all;
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            auto array = filled<double>({8}, range.lowest);
            put_invalid(array, range, dtype, SplitMix64(seed));
            all.insert(array.data.begin(), array.data.end());
        }
        return all;
    };
    using Numbers = std::set<double>;
    CHECK(put({0, 1}, DType::u8) == Numbers{0, 2, 255});
    CHECK(put({2, 4}, DType::u8) == Numbers{0, 1, 2, 5, 255});
    CHECK(put({0, 254}, DType::u8) == Numbers{0, 255});
    CHECK(put({0, 255}, DType::u8) == Numbers{0});
    CHECK(put({0, 3}, DType::i32) == Numbers{-0x1p31, -1, 0, 4, 0x1p31 - 1});
}

}  // namespace gradverify
