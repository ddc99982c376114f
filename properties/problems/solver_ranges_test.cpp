// SPDX-License-Identifier: Apache-2.0
// How ranges, multiples and relations of parameters become those of classes, and what is said where
// they contradict each other.
#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>

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
    return {.name = "ranges",
            .space = ParameterSpace(std::move(parameters), 0, 0),
            .constraints = std::move(constraints),
            .why_invalid = {},
            .inputs = {{.name = "x", .sizes = [size](const Problem& p) { return Sizes{size(p)}; }}},
            .passes = {test_pass("grad_weight", {"x"}, "dx")}};
}

ParameterSpec range(std::int64_t minimum, std::int64_t maximum = ParameterSpec{}.maximum) {
    return {.name = "", .default_value = minimum, .minimum = minimum, .maximum = maximum};
}

/// The domain of such an operator.
struct Solved {
    Operator op;
    KernelDeclaration kernel = test_kernel();
    SupportedProblems problems;

    explicit Solved(Operator described)
        : op(std::move(described)), problems(op, op.passes.front(), kernel) {}

    const RankDomain& domain() const { return problems.domains().front(); }
    const SlotClass& of(int slot) const { return domain().at(domain().index_of(slot)); }
};

std::string contradiction(const Operator& op, const KernelDeclaration& kernel = test_kernel()) {
    try {
        SupportedProblems(op, op.passes.back(), kernel);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

std::string contradiction(const KernelDeclaration& kernel) {
    return contradiction(test_operator(), kernel);
}

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
        const Solved solved(operator_of(line.parameters, line.constraints));
        CHECK(solved.of(line.slot).lowest == line.lowest);
        CHECK(solved.of(line.slot).highest == line.highest);
        const KernelDeclaration empty = test_kernel().with_empty_problems();
        const SupportedProblems with_empty(solved.op, solved.op.passes.front(), empty);
        const RankDomain& domain = with_empty.domains().front();
        CHECK(domain.at(domain.index_of(line.slot)).lowest == line.lowest);
    }
}

TEST_CASE("a divisor of a divisor is a divisor, in whatever order they are declared") {
    for (const auto& [first, second, third] :
         {std::tuple{"a", "b", "c"}, {"c", "b", "a"}, {"b", "a", "c"}}) {
        const Solved solved(
            operator_of({range(1), range(1), range(1), range(1)},
                        {where(first, multiple_of(second)), where(second, multiple_of(third)),
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
    const Solved both(operator_of({range(1), {.name = "", .minimum = 0}}, {}, product));
    CHECK(both.of(b).lowest == 1);
    const auto with_default = [&](std::int64_t value) {
        ParameterSpec first = range(0);
        first.default_value = value;
        return operator_of({first, {.name = "", .minimum = 0}}, {}, product);
    };
    CHECK(Solved(with_default(1)).of(a).lowest == 1);
    CHECK(Solved(with_default(0)).of(b).lowest == 0);
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
    CHECK(contradiction(operator_of({range(1)}, {where("a", multiple_of(0))})).find(mistake) !=
          std::string::npos);
    CHECK(contradiction(test_kernel().where("n", multiple_of(0))).find(mistake) !=
          std::string::npos);
    CHECK(contradiction(test_kernel().where("batch", equals(1)))
              .find("no parameter is called batch") != std::string::npos);
}

TEST_CASE("a problem with another number of axes is not supported") {
    const KernelDeclaration kernel = test_kernel();
    const Operator flat = make_test_operator(1, 1);
    const SupportedProblems problems(test_operator(), test_operator().passes.back(), kernel);
    CHECK(problems.contains(Problem::parse(test_operator().space, "in=3x3")));
    CHECK_FALSE(problems.satisfies_constraints(Problem::parse(flat.space, "in=3")));
}
