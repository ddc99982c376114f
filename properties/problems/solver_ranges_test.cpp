// SPDX-License-Identifier: Apache-2.0
// Ranges, multiples and relations of parameters narrow each other, and contradictions are named.
#include <doctest/doctest.h>

#include "properties/problems/solver.hpp"
#include "properties/tests/operator.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

/// An operator of parameters a, b, ... with these ranges; its tensor has `size` elements.
Operator operator_of(
    std::vector<ParameterSpec> parameters, std::vector<Constraint> constraints,
    std::int64_t (*size)(const Problem&) = [](const Problem&) { return std::int64_t{1}; }) {
    char name = 'a';
    for (ParameterSpec& parameter : parameters) parameter.name = name++;
    return small_operator(ParameterSpace(std::move(parameters), 0, 0), std::move(constraints),
                          [size](const Problem& p) { return Sizes{size(p)}; });
}

ParameterSpec range(std::int64_t minimum, std::int64_t maximum = ParameterSpec{}.maximum) {
    return {.name = "", .default_value = minimum, .minimum = minimum, .maximum = maximum};
}

std::string contradiction(const KernelDeclaration& kernel, const Operator& op = test_operator()) {
    return refusal([&] { SupportedProblems(op, op.passes.back(), kernel); });
}
std::string contradiction(const Operator& op) { return contradiction(test_kernel(), op); }

enum : int { a, b, c, d };

}  // namespace

TEST_CASE("ranges narrow each other, and are never widened") {
    const ParameterSpec wide = range(2, 9), narrow = range(4, 7), zero = range(0);
    const std::vector<Constraint> multiple{where("a", multiple_of("b"))};
    const auto with = [](std::vector<Constraint> constraints, Constraint more) {
        constraints.push_back(std::move(more));
        return constraints;
    };
    // The last of a chain divides all others: its range and its step reach the first, and back.
    const auto chain = [](const char* first, const char* third) {
        return std::vector<Constraint>{where(first, multiple_of("b")),
                                       where("b", multiple_of(third)), where(third, multiple_of(4)),
                                       where(third, between(5, 100)), where(first, between(1, 50))};
    };
    struct Line {
        std::vector<ParameterSpec> parameters;
        std::vector<Constraint> constraints;
        int slot;
        std::int64_t lowest, highest;
    };
    for (const Line& line : {Line{{wide, narrow}, {where("a", same_as("b"))}, a, 4, 7},
                             {{narrow, wide}, {where("a", same_as("b"))}, a, 4, 7},
                             {{wide}, {where("a", between(1, 30))}, a, 2, 9},
                             {{wide}, {where("a", between(3, 5))}, a, 3, 5},
                             {{zero, zero, zero}, chain("a", "c"), a, 8, 48},
                             {{zero, zero, zero}, chain("a", "c"), c, 8, 48},
                             {{zero, zero, zero}, chain("c", "a"), b, 8, 48},
                             {{zero, zero, zero}, chain("c", "a"), c, 8, 48},
                             {{zero, zero}, with(multiple, where("b", equals(0))), a, 0, 0},
                             {{zero, zero}, with(multiple, where("a", between(4, 5))), b, 1, 5}}) {
        const Operator op = operator_of(line.parameters, line.constraints);
        const Supported solved(test_kernel(), op),
            with_empty(test_kernel().with_empty_problems(), op);
        CHECK(solved.of(line.slot).lowest == line.lowest);
        CHECK(solved.of(line.slot).highest == line.highest);
        CHECK(with_empty.of(line.slot).lowest == line.lowest);
    }
}

TEST_CASE("a divisor of a divisor is a divisor, in whatever order they are declared") {
    for (const auto& [first, second, third] :
         {std::tuple{"a", "b", "c"}, {"c", "b", "a"}, {"b", "a", "c"}}) {
        const Supported solved(test_kernel(), operator_of({range(1), range(1), range(1), range(1)},
                                                          {where(first, multiple_of(second)),
                                                           where(second, multiple_of(third)),
                                                           where(third, multiple_of("d"))}));
        const int most = *first - 'a';
        CHECK(solved.of(most).divisors.size() == 3);
        CHECK(solved.of(d).multiples.size() == 3);
        const std::vector<int>& order = solved.domain().draw_order;
        CHECK(order.front() == d);
        CHECK(order.back() == most);
        CHECK(order[1] == *third - 'a');
    }
}

TEST_CASE("zero is left out of a size, and not where the smallest problem is empty anyway") {
    const auto product = [](const Problem& p) { return p.scalar("a") * p.scalar("b"); };
    const auto lowest = [&](const ParameterSpec& first, int slot) {
        return Supported(test_kernel(),
                         operator_of({first, {.name = "", .minimum = 0}}, {}, product))
            .of(slot)
            .lowest;
    };
    CHECK(lowest(range(1), b) == 1);
    CHECK(lowest({.name = "", .minimum = 0}, a) == 1);
    CHECK(lowest(range(0), b) == 0);
}

TEST_CASE("a contradiction names the parameters, what is said of them, and their ranges") {
    CHECK(contradiction(test_kernel().where("c", between(5, 7)).where("c", multiple_of(4))) ==
          "filter.grad_weight/test supports no problem: no value of c, groups satisfies "
          "`c multiple of groups`, `k multiple of groups`, `5 <= c <= 7`, `c multiple of 4`; "
          "c is 1 or more, groups is 1 or more");
    CHECK(contradiction(operator_of({range(2, 9)}, {where("a", between(10, 11))})) ==
          "filter.grad_weight/test supports no problem: no value of a satisfies "
          "`10 <= a <= 11`; a is 2 or more, at most 9");
    CHECK(contradiction(test_kernel().where("n", equals(0))) ==
          "filter.grad_weight/test supports no problem: no value of n satisfies `n = 0`, and it "
          "is not given empty problems; n is 0 or more");
}

TEST_CASE("where no values fit together, all that are related are named, and no others") {
    // b is a multiple of 2 and of 4 or 5 up to 10, and none of these divides 14.
    CHECK(contradiction(operator_of(
              {range(1), range(1), range(1), range(1), range(1)},
              {where("b", multiple_of("a")), where("b", multiple_of("c")),
               where("d", multiple_of("b")), where("a", equals(2)), where("c", between(4, 5)),
               where("b", between(5, 10)), where("d", equals(14))})) ==
          "filter.grad_weight/test supports no problem: no value of a, b, c, d satisfies "
          "`b multiple of a`, `b multiple of c`, `d multiple of b`, `a = 2`, `4 <= c <= 5`, "
          "`5 <= b <= 10`, `d = 14`; a is 1 or more, b is 1 or more, c is 1 or more, "
          "d is 1 or more");
}

TEST_CASE("a condition that can't be meant is refused, of the operator and of the kernel") {
    const std::string mistake = "the factor must be at least 1";
    CHECK(contains(contradiction(operator_of({range(1)}, {where("a", multiple_of(0))})), mistake));
    CHECK(contains(contradiction(test_kernel().where("n", multiple_of(0))), mistake));
    CHECK(contains(contradiction(test_kernel().where("batch", equals(1))),
                   "no parameter is called batch"));
}

TEST_CASE("a problem with another number of axes is not supported") {
    const Supported planar, flat(test_kernel(), make_test_operator(1, 1));
    CHECK(planar.problems.contains(planar.parse("in=3x3")));
    CHECK_FALSE(planar.problems.satisfies_constraints(flat.parse("in=3")));
}
