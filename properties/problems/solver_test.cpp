// SPDX-License-Identifier: Apache-2.0
// Constraints become domains that hold exactly the problems that satisfy them; contradictions are
// named.
#include "properties/problems/solver.hpp"

#include <doctest/doctest.h>

#include "properties/tests/test_operator.hpp"

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

TEST_CASE("equalities, ranges and multiples are solved, and narrow each other") {
    struct Line {
        KernelDeclaration kernel;
        const char* slot;
        std::size_t slots;
        std::int64_t lowest, highest, step;
    };
    constexpr std::int64_t most = ParameterSpec{}.maximum;
    const KernelDeclaration equal = test_kernel()
                                        .where("filter_w", same_as("stride_w"))
                                        .where("stride", same_as("dilation"))
                                        .where("dilation_h", same_as("dilation_w"));
    const KernelDeclaration plain = plain_kernel()
                                        .where("n", between(3, 30))
                                        .where("n", multiple_of(4))
                                        .where("n", multiple_of(6));
    const KernelDeclaration ranges =
        test_kernel().where("c", between(5, 12)).where("groups", between(4, 100));
    const KernelDeclaration fixed =
        test_kernel().where("groups", equals(6)).where("c", multiple_of(4));
    const KernelDeclaration empty = test_kernel().with_empty_problems();
    for (const Line& line : {Line{equal, "filter_w", 5, 1, most, 1},
                             {equal, "filter_h", 1, 1, most, 1},
                             {plain, "stride_h", 1, 1, 1, 1},
                             {plain, "n", 1, 12, 24, 12},
                             {plain, "groups", 1, 1, 1, 1},
                             {ranges, "groups", 1, 4, 12, 1},
                             {ranges, "k", 1, 4, most, 1},
                             {fixed, "c", 1, 12, most / 12 * 12, 12},
                             {fixed, "k", 1, 6, most / 6 * 6, 6},
                             // A size of zero is for kernels that are given empty problems.
                             {test_kernel(), "n", 1, 1, most, 1},
                             {empty, "n", 1, 0, most, 1},
                             {test_kernel(), "padding_left_h", 2, 0, most, 1},
                             {test_kernel(), "padding_right_w", 2, 0, most, 1}}) {
        CAPTURE(std::string(line.slot));
        const Supported supported(line.kernel);
        const SlotClass& one = supported.of(line.slot);
        CHECK(one.slots.size() == line.slots);
        CHECK(one.lowest == line.lowest);
        CHECK(one.highest == line.highest);
        CHECK(one.step == line.step);
        CHECK(one.smallest == std::max(line.lowest, std::int64_t{line.slots == 2 ? 0 : 1}));
        CHECK(one.is_fixed() == (line.lowest == line.highest));
    }
}

TEST_CASE("two parameters that are multiples of each other are one") {
    const Supported supported(test_kernel().where("groups", multiple_of("c")));
    CHECK(&supported.of("groups") == &supported.of("c"));
    CHECK(&supported.of("groups") != &supported.of("k"));
    CHECK(supported.of("k").divisors.size() == 1);
    const Supported circle(test_kernel()
                               .where("stride_h", multiple_of("in_w"))
                               .where("in_w", multiple_of("dilation_w"))
                               .where("dilation_w", multiple_of("stride_h")));
    CHECK(circle.of("in_w").slots.size() == 3);
}

TEST_CASE("a problem is supported exactly if constraints, predicates and emptiness allow it") {
    Operator op = make_test_operator();
    op.why_invalid = [](const Problem& p) -> std::optional<std::string> {
        return p.scalar("n") == 5 ? std::optional("five images") : std::nullopt;
    };
    KernelDeclaration kernel = test_kernel();
    kernel.where("stride_h", same_as("stride_w")).only_if("n is not 3", [](const Problem& p) {
        return p.scalar("n") != 3;
    });
    const Supported supported(kernel, op), with_empty(kernel.with_empty_problems(), op);
    struct Line {
        const char* problem;
        bool is_supported, is_with_empty;
    };
    for (const Line& line : {Line{"c=4,k=6,groups=2,in=5x4,stride=2", true, true},
                             {"c=4,k=5,groups=2,in=5x4", false, false},
                             {"in=5x4,stride=2x1", false, false},
                             {"in=5x4,padding=1+0x0", false, false},
                             {"n=3,in=5x4", false, false},
                             {"n=5,in=5x4", false, false},
                             {"n=0,in=5x4", false, true},
                             {"in=5x4,filter=6x1", false, true}}) {
        CAPTURE(line.problem);
        CHECK(supported.problems.contains(supported.parse(line.problem)) == line.is_supported);
        CHECK(with_empty.problems.contains(with_empty.parse(line.problem)) == line.is_with_empty);
    }
}

TEST_CASE("membership agrees with the constraints on every small problem") {
    KernelDeclaration kernel = test_kernel();
    kernel.where("n", multiple_of(2)).where("c", between(2, 4)).where("k", same_as("in_w"));
    const Supported supported(kernel);
    int inside = 0;
    for (int i = 0; i < 4 * 5 * 5 * 5 * 4; ++i) {
        Problem problem(test_operator().space, 2);
        problem[0] = i % 4 + 1, problem[1] = i / 4 % 5 + 1, problem[2] = i / 20 % 5 + 1;
        problem[3] = i / 100 % 5 + 1, problem[5] = i / 500 % 4 + 1;
        const bool expected = first_violated(kernel.constraints, problem) == nullptr &&
                              first_violated(test_operator().constraints, problem) == nullptr;
        CHECK(supported.problems.satisfies_constraints(problem) == expected);
        inside += expected;
    }
    CHECK(inside > 20);
}

TEST_CASE("rounding to multiples does not overflow, and a common multiple saturates") {
    constexpr std::int64_t most = std::int64_t{1} << 41;
    CHECK(least_common_multiple(4, 6) == 12);
    CHECK(least_common_multiple(most / 2, 3) == most);
    // The largest that does not saturate, and the first that does.
    CHECK(least_common_multiple(733007751850, 3) == 2199023255550);
    CHECK(least_common_multiple(733007751851, 3) == most);
    CHECK(least_common_multiple(6, 4) == 12);
    CHECK(round_up(9, 4) == 12);
    CHECK(round_up(12, 4) == 12);
    CHECK(round_down(11, 4) == 8);
    CHECK(round_down(12, 4) == 12);
    for (const auto& [target, nearest] : {std::pair{14, 10}, {15, 10}, {16, 20}})
        CHECK(nearest_in({0, 100, 10}, target) == nearest);
    CHECK(nearest_in({10, 20, 10}, -5) == 10);
    CHECK(nearest_in({10, 20, 10}, 99) == 20);
}

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
    CHECK(contradiction(operator_of({range(1), range(1), range(1), range(1), range(1)},
                                    chain_of_four(5, 14))) ==
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
