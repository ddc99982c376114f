// SPDX-License-Identifier: Apache-2.0
#include "harness/operators/arrangement.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "harness/declare_operator.hpp"
#include "harness/testing/made_operator.hpp"

namespace gradverify {
namespace {

constexpr double open = NAN;

std::vector<double> completed(Arrangement arrangement, std::vector<double> row,
                              const ValueDomain& range) {
    Array<double> array{{static_cast<std::int64_t>(row.size())}, std::move(row)};
    complete(array, arrangement, range);
    return array.data;
}

using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("what is not fixed is completed with the simplest numbers in order") {
    CHECK(completed(Arrangement::free, {open, 3, open}, {1, 9}) == Numbers{1, 3, 1});
    CHECK(completed(Arrangement::ascending, {open, 2, open, 4}, {0, 4}) == Numbers{0, 2, 2, 4});
    CHECK(completed(Arrangement::distinct, {2, open, open}, {0, 5}) == Numbers{2, 1, 0});
    CHECK(completed(Arrangement::permutation, {open, 0, open}, {0, 2}) == Numbers{1, 0, 2});
    CHECK(completed(Arrangement::offsets, {open, open, open}, {0, 7}) == Numbers{0, 0, 7});
    CHECK(completed(Arrangement::offsets, {open, 3, open, open}, {0, 7}) == Numbers{0, 3, 3, 7});
    // Each row by itself.
    Array<double> rows{{2, 2}, {open, open, 1, open}};
    complete(rows, Arrangement::permutation, {0, 1});
    CHECK(rows.data == Numbers{0, 1, 1, 0});
}

TEST_CASE("a number that is out of order is an error that says where") {
    const auto refuses = [](Arrangement arrangement, Numbers row, const char* why) {
        CHECK_THROWS_WITH_AS(completed(arrangement, std::move(row), {0, 4}), why,
                             std::invalid_argument);
    };
    refuses(Arrangement::ascending, {open, 3, 2},
            "[2] is 2: no element may be below the one before it, 3");
    refuses(Arrangement::distinct, {1, open, 1}, "[2] is 1, like one before it: all must differ");
    refuses(Arrangement::offsets, {1, open}, "[0] is 1: offsets begin at 0 and end at 4");
    refuses(Arrangement::offsets, {open, 5, open},
            "[2] is 4: no element may be below the one "
            "before it, 5");
}

TEST_CASE("problems whose sizes leave no such numbers are not valid") {
    const auto why = [](const Holds& holds, const char* problem) {
        const Operator op = declare_operator("arranged")
                                .parameter("n")
                                .parameter("m", {.minimum = 0})
                                .input("x", {"n"})
                                .input("at", {"m"}, holds)
                                .output("y", {"n"})
                                .forward([]<class T>(const ForwardCall<T>& call) {
                                    call.output("y")(0) = call.input("x")(0);
                                });
        return op.validate(Problem::parse(op.space, problem)).value_or("");
    };
    CHECK(why(permutation_of("n"), "n=3,m=2") ==
          "arranged needs other sizes of at: 2 elements can't be a permutation of 3 numbers");
    CHECK(why(distinct_indices_below("n"), "n=3,m=4") ==
          "arranged needs other sizes of at: 4 elements can't be distinct numbers of 3");
    CHECK(why(offsets_to("n"), "n=3,m=1") ==
          "arranged needs other sizes of at: offsets from 0 to 3 are two elements or more, one "
          "more than parts");
    for (const Holds& holds :
         {permutation_of("n"), distinct_indices_below("n"), sorted_indices_below("n")})
        CHECK(why(holds, "n=3,m=3").empty());
    CHECK(why(offsets_to("n"), "n=3,m=2").empty());
}

}  // namespace gradverify
