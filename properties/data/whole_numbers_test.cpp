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

TEST_CASE("numbers outside of a range that bytes can hold are among those put there") {
    Array<double> array = filled<double>({64}, 1.0);
    put_invalid(array, {0, 1}, DType::u8, SplitMix64(1));
    for (const double value : array.data) CHECK((value == 1 || value == 2 || value == 255));
    CHECK(std::ranges::count(array.data, 1.0) < 64);
    put_invalid(array, {0, 255}, DType::u8, SplitMix64(1));  // there are none
}

}  // namespace gradverify
