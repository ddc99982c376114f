// SPDX-License-Identifier: Apache-2.0
// The smaller problems that are offered to shrinking, in spaces where all of them can be named.
#include "properties/problems/smaller.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "properties/tests/test_operator.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

struct Space : Supported {
    explicit Space(std::vector<ParameterSpec> parameters, std::vector<Constraint> constraints = {},
                   int rank = 0)
        : Supported(test_kernel(), small_operator(ParameterSpace(std::move(parameters), rank, rank),
                                                  std::move(constraints))) {}

    /// What is offered, in order, as text; the default problem as -.
    std::string smaller_than(std::string_view text) const {
        std::string offers;
        for (const Problem& problem : smaller_problems(problems, parse(text)))
            offers += " " + (problem.distance() == 0 ? "-" : problem.print());
        return offers;
    }
    bool offers(std::string_view text, const std::string& offer) const {
        return contains(smaller_than(text) + " ", " " + offer + " ");
    }
};

const ParameterSpec a{.name = "a"}, b{.name = "b"}, c{.name = "c"};

}  // namespace

TEST_CASE("smaller problems are smaller, supported, and each is offered once") {
    const Supported supported;
    const Problem problem =
        supported.parse("n=4,c=12,k=18,groups=6,in=9x8,filter=3x2,stride=2,padding=1x3");
    const std::vector<Problem> smaller = smaller_problems(supported, problem);
    CHECK(smaller.size() > 100);
    for (std::size_t i = 0; i < smaller.size(); ++i) {
        CHECK(smaller[i] < problem);
        CHECK(supported.problems.contains(smaller[i]));
        for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(smaller[i] == smaller[j]);
    }
    for (const char* text :
         {"in=1x1", "n=4,c=4,k=6,groups=2,in=9x8,filter=3x2,stride=2,padding=1x3",
          "n=4,c=12,k=18,groups=6,in=8x8,filter=2x2,stride=2,padding=1x3", "in=9x1,filter=3x1",
          "c=6,k=6,groups=6,in=1x1"})
        CHECK_MESSAGE(std::ranges::count(smaller, supported.parse(text)) == 1, text);
    CHECK(smaller_problems(supported, supported.parse("in=1x1")).empty());
}

TEST_CASE("some axes are left out where the kernel takes fewer, and keep their order") {
    struct Line {
        KernelDeclaration kernel;
        std::vector<std::string> offered, not_offered;
    };
    const std::string two_axes = "n=2,in=5x4,filter=3x2,padding=2x1",
                      first_axis = "n=2,in=5,filter=3,padding=2";
    for (const Line& line : {Line{test_kernel().spatial_axes(1, 3),
                                  {two_axes, "n=2,in=5x1,filter=3x1,stride=1x3,padding=2x0",
                                   "n=2,in=1x4,filter=1x2,stride=3x1,padding=0x1", first_axis,
                                   "n=2,in=1,stride=3", "n=2,in=4,filter=2,padding=1"},
                                  {}},
                             {test_kernel().spatial_axes(2, 3), {two_axes}, {first_axis}},
                             // Another constraint along the axis that is left.
                             {test_kernel().spatial_axes(1, 3).where("in_w", multiple_of(4)),
                              {"n=2,in=4,filter=3,padding=2"},
                              {first_axis}},
                             {test_kernel().spatial_axes(3, 3), {}, {two_axes}}}) {
        CAPTURE(line.kernel.ranks->print());
        const Supported supported(line.kernel, make_test_operator(1, 3));
        std::set<std::string> all;
        for (const Problem& problem : smaller_problems(
                 supported,
                 supported.parse("n=2,in=5x1x4,filter=3x1x2,stride=1x3x1,padding=2x0x1"))) {
            CHECK(supported.problems.contains(problem));
            all.insert(problem.print());
        }
        for (const std::string& text : line.offered) CHECK_MESSAGE(all.contains(text), text);
        for (const std::string& text : line.not_offered) CHECK_MESSAGE(!all.contains(text), text);
    }
}

TEST_CASE("one parameter alone: halves, near ends, remainders of powers of two, then all others") {
    CHECK(Space({a}).smaller_than("a=24") ==
          " - a=12"                                                              // at once
          " a=2 a=4 a=8 a=16 a=20 a=22 a=23"                                     // alone
          " a=3 a=5 a=6 a=7 a=9 a=10 a=11 a=13 a=14 a=15 a=17 a=18 a=19 a=21");  // the others
    CHECK(Space({a}).smaller_than("a=1") == "");
    // Below a default it goes up, and what is as far on the other side is no smaller.
    const Space below({{.name = "a", .default_value = 9}});
    CHECK(below.smaller_than("a=1") == " - a=5 a=8 a=7 a=3 a=2 a=6 a=4");
    CHECK(below.smaller_than("a=12") == " - a=10 a=11");
    const Space fours({a}, {where("a", multiple_of(4))});
    CHECK(fours.smaller_than("a=40") == " a=4 a=20 a=8 a=24 a=32 a=36 a=12 a=16 a=28");
}

TEST_CASE("remainders are kept up to a period of 1024, and 64 values of a parameter alone tried") {
    for (const char* value : {"a=905", "a=1929", "a=3977", "a=4489", "a=2", "a=4937", "a=4938"})
        CHECK_MESSAGE(Space({a}).offers("a=5001", value), value);
    for (const char* value : {"a=2953", "a=4936", "a=4935"})
        CHECK_MESSAGE(!Space({a}).offers("a=5001", value), value);
    CHECK(Space({a, b}).offers("a=80,b=22", "a=37"));
    CHECK(Space({a, b}).offers("a=80,b=22", "b=37"));
    CHECK_FALSE(Space({a, b}).offers("a=80,b=22", "a=36"));
}

TEST_CASE("two parameters: one kept, one down, both down, one for the other, as a square") {
    CHECK(Space({a, b}).smaller_than("a=5,b=4") ==
          " - b=4 a=3,b=2 a=5"
          " a=2,b=4 a=3,b=4 a=5,b=2 a=4,b=4 a=5,b=3"
          " b=2 a=2 b=3 a=3 a=4 b=5 b=6 a=4,b=3 a=6 b=7 a=7 b=8 a=4,b=5");
    CHECK(Space({a, {.name = "b", .default_value = 5, .minimum = 0}}).smaller_than("a=3,b=2") ==
          " - a=2,b=4 a=3 b=2 a=3,b=4 a=2,b=2 a=3,b=3"
          " b=4 a=2 b=3 a=2,b=3 a=4 b=1 a=5 b=0 a=2,b=1");
    CHECK(Space({a, {.name = "b", .default_value = 2, .minimum = 0}}).smaller_than("a=6,b=1") ==
          " - b=1 a=3 a=6 a=2,b=1 a=3,b=1 a=4,b=1 a=5,b=1"
          " a=2 b=0 a=2,b=3 a=2,b=4 a=4 a=5 a=5,b=0");
}

TEST_CASE("a parameter of zero is kept, and no product is made from it") {
    CHECK(Space({a, {.name = "b", .default_value = 0, .minimum = 0}}).smaller_than("a=6,b=0") ==
          " - a=3 a=2 a=4 a=5 b=1 b=2 b=3 b=4 b=5 a=5,b=1");
    CHECK(Space({{.name = "a", .minimum = 0}, b}).smaller_than("a=0,b=4") ==
          " - a=0 b=2 b=4 a=0,b=2 a=0,b=3 b=3");
}

TEST_CASE("what divides others goes down with them, and without them as far as they allow") {
    const Space pair({a, b}, {where("b", multiple_of("a"))});
    CHECK(pair.smaller_than("a=6,b=12") ==
          " - a=3,b=6 a=6,b=6 b=12"
          " b=2 a=2,b=2 a=2,b=4 a=4,b=4 b=11 a=4,b=8 a=2,b=12 a=3,b=12 a=5,b=10 a=4,b=12"
          " b=3 b=4 b=5 a=3,b=3 b=6 b=7 b=8 b=9 a=5,b=5 b=10 b=13 a=7,b=7 b=14 b=15 a=8,b=8 b=16"
          " b=17");
    CHECK(pair.smaller_than("a=4,b=8") ==
          " - a=2,b=4 a=4,b=4 b=8 b=2 a=2,b=2 b=7 a=3,b=6 a=2,b=8 a=3,b=9"
          " b=3 b=4 b=5 a=3,b=3 b=6 b=9 a=5,b=5 b=10 b=11");
}

TEST_CASE("divisor and multiples are divided together by up to 64") {
    const Space pair({a, b}, {where("b", multiple_of("a"))});
    CHECK(pair.offers("a=128,b=640", "a=2,b=10"));
    CHECK_FALSE(pair.offers("a=130,b=650", "a=2,b=10"));
    CHECK(pair.offers("a=126,b=630", "a=2,b=10"));
    const Space five(
        {a, b, c, {.name = "d"}, {.name = "e"}},
        {where("b", multiple_of("a")), where("c", multiple_of("a")), where("d", multiple_of("a"))});
    CHECK(five.offers("a=6,b=12,c=18,d=24,e=5", "a=3,b=6,c=9,d=12,e=5"));
    // A divisor alone comes before pairs, with what is a multiple of it.
    const std::string alone = pair.smaller_than("a=6,b=24");
    CHECK(alone.find(" a=5,b=25 ") < alone.find(" b=3 "));
}

TEST_CASE("axes change places") {
    const ParameterSpec in{.name = "in", .kind = ParameterKind::per_axis, .carries_rank = true};
    const ParameterSpec padding{.name = "p",
                                .kind = ParameterKind::per_axis_pair,
                                .default_value = 0,
                                .minimum = 0,
                                .is_padding = true};
    CHECK(Space({in, padding}, {}, 2).offers("in=3x1,p=2+1x0", "in=1x3,p=0+0x2+1"));
    CHECK(Space({in}, {}, 3).smaller_than("in=3x1x2") ==
          " - in=1x1x2 in=2x1x1 in=3x1x1 in=2x1x2 in=1x3x2 in=2x1x3"
          " in=1x2x1 in=1x1x3 in=1x2x2 in=1x3x1 in=1x1x4 in=1x4x1 in=2x2x2");
    const ParameterSpec filter{.name = "f", .kind = ParameterKind::per_axis};
    CHECK(Space({in, filter}, {}, 2).offers("in=4x2,f=3x1", "in=2x4,f=1x3"));
    CHECK_FALSE(Space({in, filter}, {}, 2).offers("in=3x1,f=2x1", "in=2x3,f=1x1"));
    // Not where only one of the two has the constraint.
    const Space one_even({in}, {where("in_h", multiple_of(2))}, 2);
    CHECK(one_even.smaller_than("in=4x3") == " in=2x1 in=2x2 in=2x3 in=4x1 in=4x2 in=2x4 in=2x5");
}

TEST_CASE("what a chain of relations leaves without a solution is not offered") {
    const Space chain({a, b, c, {.name = "d"}}, chain_of_four(6, 12));
    CHECK(chain.smaller_than("a=2,b=6,c=6,d=12") == "");
}
