// SPDX-License-Identifier: Apache-2.0
#include "harness/problems/problem.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "harness/problems/parameter_reads.hpp"
#include "harness/testing/made_operator.hpp"

namespace {

using namespace gradverify;
using gradverify::testing::contains;

/// Parameters of every kind, in the order of a convolution's.
ParameterSpace make_space(int rank_min, int rank_max) {
    return ParameterSpace({{.name = "n", .minimum = 0},
                           {.name = "c"},
                           {.name = "in", .kind = ParameterKind::per_axis, .carries_rank = true},
                           {.name = "stride", .kind = ParameterKind::per_axis},
                           testing::padding_parameter()},
                          rank_min, rank_max);
}

const ParameterSpace& planar() {
    static const ParameterSpace space = make_space(2, 2);
    return space;
}

const ParameterSpace& any_rank() {
    static const ParameterSpace space = make_space(1, 3);
    return space;
}

Problem parsed(std::string_view text) { return Problem::parse(planar(), text); }

/// The message with which a text is refused; empty when it is accepted.
std::string refusal(const ParameterSpace& space, std::string_view text) {
    return gradverify::testing::refusal([&] { Problem::parse(space, text); });
}

}  // namespace

TEST_CASE("a problem prints what is not at its default, and always what carries the rank") {
    CHECK(Problem(planar(), 2).print() == "in=1x1");
    struct Text {
        const char *text, *printed;
    };
    for (const auto& [text, printed] :
         {Text{"in=1x1,n=1,padding=0", "in=1x1"},
          {"stride=2x1,in=5x4,n=3", "n=3,in=5x4,stride=2x1"},
          {"n=0,in=2x2", "n=0,in=2x2"},
          // One value for a parameter with axes means every axis.
          {"in=5,stride=3,padding=2", "in=5x5,stride=3x3,padding=2x2"},
          // Padding has one number per axis until its two sides differ somewhere.
          {"in=1x1,padding=1x0", "in=1x1,padding=1x0"},
          {"in=1x1,padding=1+0x2", "in=1x1,padding=1+0x2+2"},
          {"in=1x1,padding=1+2", "in=1x1,padding=1+2x1+2"}})
        CHECK(parsed(text).print() == printed);
    const Problem problem = parsed("in=5,stride=3,padding=2");
    CHECK(problem.on_axis("stride", 1) == 3);
    CHECK(problem.on_axis("padding", 1, Side::right) == 2);
    CHECK(problem.scalar("n") == 1);
}

TEST_CASE("the number of image sizes is the rank, and names its axes") {
    CHECK(Problem::parse(any_rank(), "in=5").rank() == 1);
    CHECK(Problem::parse(any_rank(), "in=5x4x3,stride=2").print() == "in=5x4x3,stride=2x2x2");
    const auto last = [](int rank) { return any_rank().slots(rank).back().name; };
    const auto name = [](int rank, std::size_t i) { return any_rank().slots(rank)[i].name; };
    CHECK(last(1) == "padding_right_w");
    CHECK(name(1, 2) == "in_w");
    CHECK(name(2, 2) == "in_h");
    CHECK(name(3, 2) == "in_d");
    CHECK(name(3, 8) == "padding_left_d");
}

TEST_CASE("an operator without axes accepts a text without any parameter") {
    const ParameterSpace flat(
        {{.name = "n"}, {.name = "classes", .default_value = 2, .minimum = 2}}, 0, 0);
    CHECK(Problem::parse(flat, "").print().empty());
    CHECK(Problem::parse(flat, "classes=7").print() == "classes=7");
}

TEST_CASE("bad input is refused with what is accepted") {
    struct Refused {
        const char *text, *says;
    };
    for (const Refused& refused :
         {Refused{"in=1x1,m=2", "unknown parameter `m`; accepted: n=NUMBER"},
          {"in=1x1,in_h=2", "unknown parameter `in_h`"},
          {"n=1,in=1x1,n=2", "`n` is given twice"},
          {"n=1", "in= is missing"},
          {"", "in= is missing"},
          {"n", "not of the form name=value"},
          {"in=1x1,", "not of the form name=value"},
          {"in=1x1,stride=1x2x3", "has 3 axes; accepted: 2 numbers"},
          {"in=1x1x1", "in=1x1x1 has 3 axes; accepted: 2 numbers"},
          {"in=1x1,padding=1+2+3", "too many sides"},
          {"in=1x1,stride=1+1", "not accepted for stride"}})
        CHECK_MESSAGE(contains(refusal(planar(), refused.text), refused.says), refused.text);
    CHECK(contains(refusal(any_rank(), "in=1x1x1x1"), "has 4 axes; accepted: 1 to 3 numbers"));
    CHECK(contains(refusal(make_space(2, 3), "in=4"), "has 1 axis; accepted: 2 to 3 numbers"));
    CHECK_THROWS_AS(Problem(planar(), 3), std::invalid_argument);
}

TEST_CASE("a value that is no number, or out of range, is refused with the range") {
    for (const char* text : {"n=x", "n=", "n=-1", "n=1.5", "n= 1", "n=1e3", "n=+1", "n=0x1",
                             "n=1073741825", "n=99999999999999999999"})
        CHECK_MESSAGE(contains(refusal(planar(), std::string(text) + ",in=1x1"),
                               "is not accepted for n: a whole number from 0 to 1073741824"),
                      text);
    CHECK(
        contains(refusal(planar(), "in=0x1"), "`0` is not accepted for in: a whole number from 1"));
    CHECK(contains(refusal(planar(), "n=1 in=1x1"), "commas stand between parameters"));
    CHECK(refusal(planar(), "n=1073741824,in=1x1").empty());
}

TEST_CASE("a name means a parameter, an axis of it, a side of it, or one slot") {
    using Names = std::vector<std::string>;
    const auto found = [](std::string_view name) {
        Names names;
        for (const int slot : planar().find(name, 2)) names.push_back(planar().slot(2, slot).name);
        return names;
    };
    CHECK(found("stride") == Names{"stride_h", "stride_w"});
    CHECK(found("stride_w") == Names{"stride_w"});
    CHECK(found("padding_h") == Names{"padding_left_h", "padding_right_h"});
    CHECK(found("padding_left") == Names{"padding_left_h", "padding_left_w"});
    CHECK(found("padding_right_w") == Names{"padding_right_w"});
    CHECK(found("n") == Names{"n"});
    for (const char* wrong : {"", "strid", "stride_", "stride_d", "stride_left", "n_h",
                              "padding_left_", "padding_left_d", "padding_up_h"})
        CHECK_MESSAGE(found(wrong).empty(), wrong);
}

TEST_CASE("every name that a space lists is one that it finds") {
    for (int rank = 1; rank <= 3; ++rank) {
        const std::vector<std::string> names = any_rank().names(rank);
        for (const std::string& name : names) CHECK(!any_rank().find(name, rank).empty());
        for (const auto& slot : any_rank().slots(rank))
            CHECK(std::ranges::find(names, slot.name) != names.end());
    }
}

TEST_CASE("symmetric padding counts once in the distance, and an empty batch counts one") {
    CHECK(Problem(planar(), 2).distance() == 0);
    CHECK(parsed("in=1x1,padding=2x0").distance() == 2);
    CHECK(parsed("in=1x1,padding=2+3x0").distance() == 3);
    CHECK(parsed("in=1x1,padding=2+0x0").total_padding() == 4);
    CHECK(parsed("n=0,in=3x1,padding=0x1").distance() == 4);
    CHECK(parsed("n=0,in=3x1,padding=0x1").total_padding() == 1);
}

TEST_CASE("problems are ordered by distance, padding, then their values from the left") {
    const std::vector<const char*> ascending = {"in=1x1",
                                                "n=0,in=1x1",
                                                "in=1x2",
                                                "in=2x1",
                                                "c=2,in=1x1",
                                                "n=2,in=1x1",
                                                "in=1x1,padding=0x1",
                                                "in=1x1,padding=1x0",
                                                "n=0,in=1x1,stride=1x2"};
    for (std::size_t i = 0; i < ascending.size(); ++i)
        for (std::size_t j = 0; j < ascending.size(); ++j)
            CHECK((parsed(ascending[i]) <=> parsed(ascending[j])) == (i <=> j));
    CHECK(Problem::parse(any_rank(), "in=1") < Problem::parse(any_rank(), "in=1x1"));
    CHECK(Problem::parse(any_rank(), "in=1x1") < Problem::parse(any_rank(), "in=2"));
}

TEST_CASE("all values of a parameter lie beside each other, left before right") {
    const Problem problem = parsed("n=7,in=5x4,padding=1+2x3+4");
    const auto are = [](std::span<const std::int64_t> values, std::vector<std::int64_t> wanted) {
        return std::ranges::equal(values, wanted);
    };
    CHECK(are(problem.all_of("n"), {7}));
    CHECK(are(problem.all_of("in"), {5, 4}));
    CHECK(are(problem.all_of("padding"), {1, 2, 3, 4}));
    CHECK_THROWS_AS(problem.all_of("m"), std::invalid_argument);
    const ParameterReads reads;
    problem.all_of("in");
    CHECK(reads.names() == std::set<std::string, std::less<>>{"in"});
}

TEST_CASE("asking for a parameter in the wrong way is an error") {
    const Problem problem(planar(), 2);
    CHECK_THROWS_AS(problem.scalar("stride"), std::invalid_argument);
    CHECK_THROWS_AS(problem.scalar("m"), std::invalid_argument);
    CHECK_THROWS_AS(problem.on_axis("n", 0), std::invalid_argument);
    CHECK_THROWS_AS(problem.on_axis("n", -1), std::invalid_argument);
    CHECK_THROWS_AS(problem.on_axis("stride", 2), std::invalid_argument);
    CHECK_THROWS_AS(problem.on_axis("padding", 0), std::invalid_argument);
}

TEST_CASE("a space that contradicts itself is an error") {
    struct Contradiction {
        std::vector<ParameterSpec> specs;
        int rank_min, rank_max;
    };
    const auto axes = ParameterKind::per_axis;
    for (const auto& [specs, least, most] : {Contradiction{{{.name = "n"}, {.name = "n"}}, 0, 0},
                                             {{{.name = "n", .default_value = 0}}, 0, 0},
                                             {{{.name = ""}}, 0, 0},
                                             {{{.name = "n"}}, 1, 2},
                                             {{{.name = "n", .carries_rank = true}}, 1, 1},
                                             {{{.name = "in", .kind = axes}}, 0, 0},
                                             {{{.name = "n"}}, 0, 4},
                                             {{{.name = "in", .kind = axes, .carries_rank = true},
                                               {.name = "out", .kind = axes, .carries_rank = true}},
                                              1,
                                              2}})
        CHECK_THROWS_AS(ParameterSpace(specs, least, most), std::invalid_argument);
}

TEST_CASE("a printed problem parses to the same problem") {
    int problems = 0;
    const bool holds = rc::check("parse(print(problem)) == problem", [&] {
        Problem problem(any_rank(), *rc::gen::inRange(1, 4));
        const bool symmetric = *rc::gen::arbitrary<bool>();
        for (std::size_t slot = 0; slot < problem.slots().size(); ++slot) {
            const auto& spec = any_rank().spec(problem.slots()[slot]);
            const int i = static_cast<int>(slot);
            problem[i] = *rc::gen::inRange<std::int64_t>(spec.minimum, 6);
            if (*rc::gen::inRange(0, 20) == 0) problem[i] = spec.maximum;
            if (symmetric && problem.slots()[slot].side == Side::right) problem[i] = problem[i - 1];
        }
        ++problems;
        const Problem again = Problem::parse(any_rank(), problem.print());
        RC_ASSERT(again == problem);
        RC_ASSERT(again.print() == problem.print());
    });
    CHECK(holds);
    CHECK(problems >= 100);
}
