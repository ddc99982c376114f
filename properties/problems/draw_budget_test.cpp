// SPDX-License-Identifier: Apache-2.0
// Draws where a budget, or the relations between parameters, leave hardly any problem.
#include <doctest/doctest.h>

#include <set>

#include "properties/problems/draw.hpp"
#include "properties/tests/operator.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

using Texts = std::set<std::string>;

/// The problems in 3000 draws of parameters a, b, c and d, where a is the work; `-` for a failed
/// draw.
Texts drawn(const std::vector<Constraint>& constraints, const WorkBudget& budget = {},
            const KernelDeclaration& kernel = test_kernel()) {
    Operator op = small_operator(
        ParameterSpace({{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}}, 0, 0),
        constraints);
    op.passes.front().multiply_adds = [](const Problem& p) {
        return static_cast<double>(p.scalar("a"));
    };
    const Supported supported(kernel, op);
    const ProblemDrawer drawer(supported, budget);
    Texts texts;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        SplitMix64 random(seed);
        const std::optional<Problem> problem = drawer(random);
        if (problem) CHECK(supported.problems.contains(*problem));
        texts.insert(problem ? problem->print() : "-");
    }
    return texts;
}

std::vector<Constraint> all_but_a(Condition condition) {
    return {where("a", std::move(condition)), where("b", equals(1)), where("c", equals(1)),
            where("d", equals(1))};
}

}  // namespace

TEST_CASE("a draw may cost exactly its budget, and a few of the longest lengths more") {
    struct Line {
        WorkBudget budget;
        const char* problem;
        bool is_drawn;
    };
    for (const Line& line : {Line{{.multiply_adds = 1025, .longest_factor = 2.0}, "a=1025", true},
                             {{.multiply_adds = 1025, .longest_factor = 2.0}, "a=2049", true},
                             {{.multiply_adds = 1025, .longest_factor = 2.0}, "a=4097", false},
                             {{.multiply_adds = 1025, .longest_factor = 1.9}, "a=2049", false},
                             {{.multiply_adds = 1024.5}, "a=1024", true},
                             {{.multiply_adds = 1024.5}, "a=1025", false}}) {
        CAPTURE(line.budget.multiply_adds);
        CAPTURE(line.budget.longest_factor);
        CAPTURE(line.problem);
        CHECK(drawn(all_but_a(between(1, 5000)), line.budget).contains(line.problem) ==
              line.is_drawn);
    }
    const std::vector<Constraint> from_8 = all_but_a(between(8, 5000));
    CHECK(drawn(from_8, {.multiply_adds = 8}) == Texts{"a=8"});
    CHECK(drawn(from_8, {.multiply_adds = 7}) == Texts{"-"});
}

TEST_CASE("where no large value is within the budget, or there is none, a draw ends") {
    // Nothing but a has large values.
    const Texts cheap = drawn(all_but_a(between(1, 1 << 20)), {.multiply_adds = 12});
    CHECK(cheap.contains("a=8"));
    CHECK_FALSE(cheap.contains("a=15"));
    CHECK(drawn(all_but_a(between(1, 3))) == Texts{"", "a=2", "a=3"});
    // No parameter may be zero, though the kernel takes empty problems.
    CHECK(drawn(all_but_a(between(1, 3)), {}, test_kernel().with_empty_problems()) ==
          Texts{"", "a=2", "a=3"});
}

TEST_CASE("a draw that relations lead into a dead end comes to nothing, and others are made") {
    // With c = 4 only b = 8 is left, which does not divide 12.
    CHECK(drawn({where("b", multiple_of("a")), where("b", multiple_of("c")),
                 where("d", multiple_of("b")), where("a", equals(2)), where("c", between(4, 6)),
                 where("b", between(5, 10)), where("d", equals(12))}) ==
          Texts{"-", "a=2,b=6,c=6,d=12"});
}

TEST_CASE("a large divisor needs multiples as large") {
    const Texts problems = drawn({where("b", multiple_of("a")), where("b", between(100, 130))});
    CHECK(problems.contains("a=63,b=126"));
    CHECK_FALSE(problems.contains("-"));
}
