// SPDX-License-Identifier: Apache-2.0
#include "harness/problems/constraint.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "harness/testing/made_operator.hpp"

namespace {

using namespace gradverify;
using gradverify::testing::contains;
using gradverify::testing::where;

const ParameterSpace& space() {
    static const ParameterSpace result(
        {{.name = "n", .minimum = 0},
         {.name = "c"},
         {.name = "groups", .minimum = 0},
         {.name = "in", .kind = ParameterKind::per_axis, .carries_rank = true},
         {.name = "stride", .kind = ParameterKind::per_axis},
         testing::padding_parameter()},
        1, 2);
    return result;
}

bool holds(const Constraint& constraint, std::string_view problem) {
    return first_violated(std::vector{constraint}, Problem::parse(space(), problem)) == nullptr;
}

std::string complaint(const Constraint& constraint, RankRange ranks = {1, 2},
                      const ParameterSpace& of = space()) {
    return testing::refusal([&] { check_names(std::vector{constraint}, of, ranks); });
}

}  // namespace

TEST_CASE("a constraint prints as one reads it") {
    CHECK(where("stride", equals(1)).print() == "stride = 1");
    CHECK(where("n", between(1, 64)).print() == "1 <= n <= 64");
    CHECK(where("n", between(4, std::int64_t{1} << 40)).print() == "n >= 4");
    CHECK(where("n", between(4, std::int64_t{1} << 30)).print() == "n >= 4");
    CHECK(where("n", between(4, (1 << 30) - 1)).print() == "4 <= n <= 1073741823");
    CHECK(where("c", multiple_of(4)).print() == "c multiple of 4");
    CHECK(where("c", multiple_of("groups")).print() == "c multiple of groups");
    CHECK(where("in_h", same_as("in_w")).print() == "in_h = in_w");
}

TEST_CASE("a constraint holds of some problems, and of others not") {
    struct Sample {
        Constraint constraint;
        const char* problem;
        bool holds;
    };
    const Constraint range = where("n", between(2, 4)),
                     of_groups = where("c", multiple_of("groups"));
    const Constraint sides = where("padding_left", same_as("padding_right"));
    for (const Sample& sample : {
             // A range includes both its ends.
             Sample{range, "n=1,in=1", false},
             {range, "n=2,in=1", true},
             {range, "n=4,in=1", true},
             {range, "n=5,in=1", false},
             // Only zero is a multiple of zero.
             {where("c", multiple_of(4)), "c=8,in=1", true},
             {where("c", multiple_of(4)), "c=6,in=1", false},
             {of_groups, "c=6,groups=3,in=1", true},
             {of_groups, "c=6,groups=4,in=1", false},
             {of_groups, "c=6,groups=0,in=1", false},
             {where("n", multiple_of("groups")), "n=0,groups=0,in=1", true},
             // A condition on a parameter with axes holds on every axis and side.
             {where("stride", equals(1)), "in=3x4", true},
             {where("stride", equals(1)), "in=3x4,stride=1x2", false},
             {where("stride", equals(1)), "in=3x4,stride=2x1", false},
             {where("stride_h", equals(1)), "in=3x4,stride=1x2", true},
             {where("padding", equals(0)), "in=3x4,padding=0+0x0+1", false},
             // Axes are compared one by one, and a single parameter with each.
             {where("stride", same_as("in")), "in=3x4,stride=3x4", true},
             {where("stride", same_as("in")), "in=3x4,stride=4x3", false},
             {sides, "in=1x1,padding=1x2", true},
             {sides, "in=1x1,padding=1x2+1", false},
             {where("in", same_as("n")), "n=3,in=3x3", true},
             {where("in", same_as("n")), "n=3,in=3x4", false},
             {where("n", same_as("in")), "n=3,in=3x4", false},
         }) {
        INFO(sample.constraint.print(), " of ", sample.problem);
        CHECK(holds(sample.constraint, sample.problem) == sample.holds);
    }
}

TEST_CASE("the first violated constraint is the one that is reported") {
    const std::vector<Constraint> all{where("n", equals(1)), where("c", equals(1)),
                                      where("in", equals(1))};
    CHECK(first_violated(all, Problem::parse(space(), "c=2,in=2")) == &all[1]);
    CHECK(first_violated(all, Problem::parse(space(), "in=1")) == nullptr);
}

TEST_CASE("an unknown name in a constraint is an error that lists those known") {
    const std::string unknown = complaint(where("batch", equals(1)));
    CHECK(contains(unknown, "constraint `batch = 1`: no parameter is called batch"));
    CHECK(contains(unknown, "there are n, c, groups, in, in_w, stride, stride_w, padding"));
    CHECK(contains(complaint(where("c", multiple_of("group"))), "called group"));
    CHECK_THROWS_AS(holds(where("batch", equals(1)), "in=1"), std::invalid_argument);
    CHECK(complaint(where("padding_left_w", equals(1))).empty());
}

TEST_CASE("a name must exist at every rank of the operator") {
    CHECK(contains(complaint(where("in_h", equals(1))), "with 1 spatial axes"));
    CHECK(contains(complaint(where("c", same_as("in_h"))), "with 1 spatial axes"));
    const ParameterSpace single({{.name = "n"}}, 0, 0);
    CHECK(complaint(where("m", equals(1)), {0, 0}, single) ==
          "constraint `m = 1`: no parameter is called m; there are n; did you mean n?");
    // Only at the ranks that are asked about.
    CHECK(complaint(where("in_h", equals(3)), {2, 2}).empty());
    CHECK_FALSE(complaint(where("in_h", equals(3)), {1, 2}).empty());
}

TEST_CASE("a condition on a real parameter is an error, on either side") {
    const ParameterSpace with_real({{.name = "slope", .values = {0.5, 2.0}}, {.name = "n"}}, 0, 0);
    for (const Constraint& constraint : {where("slope", equals(1)), where("n", same_as("slope"))})
        CHECK(contains(complaint(constraint, {0, 0}, with_real),
                       "conditions are on whole numbers, and it names a real parameter; use "
                       "only_if with Problem::real"));
}

TEST_CASE("a constraint that cannot be meant is an error") {
    CHECK(contains(complaint(where("c", multiple_of(0))), "factor must be at least 1"));
    CHECK(contains(complaint(where("c", between(3, 2))), "must not exceed"));
    CHECK(contains(complaint(where("padding", same_as("stride"))),
                   "padding has 4 values and stride has 2"));
    CHECK(complaint(where("c", multiple_of(1))).empty());
    CHECK(complaint(where("c", between(3, 3))).empty());
    // A kind ignores the numbers that it does not use.
    using Kind = Constraint::Kind;
    CHECK(complaint({"c", Kind::range, 1, 2, 0, ""}).empty());
    CHECK(complaint({"c", Kind::multiple_of, 3, 2, 1, ""}).empty());
}
