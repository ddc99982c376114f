// SPDX-License-Identifier: Apache-2.0
// Which problems are drawn where a budget, or the relations between parameters, leave hardly any.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "properties/problems/draw.hpp"
#include "properties/tests/operator.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

/// Parameters a, b, c and d; a problem costs a multiply-adds.
struct Space {
    Operator op;
    KernelDeclaration kernel;
    SupportedProblems supported;

    explicit Space(std::vector<Constraint> constraints, KernelDeclaration declared = test_kernel())
        : op{.name = "space",
             .space =
                 ParameterSpace({{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}}, 0, 0),
             .constraints = std::move(constraints),
             .why_invalid = {},
             .inputs = {{.name = "x", .sizes = [](const Problem&) { return Sizes{1}; }}},
             .passes = {test_pass("grad_weight", {"x"}, "dx")}},
          kernel(std::move(declared)),
          supported((
                        op.passes.front().multiply_adds =
                            [](const Problem& p) { return static_cast<double>(p.scalar("a")); },
                        op),
                    op.passes.front(), kernel) {}

    /// Draws from 3000 seeds; a `-` for one that came to nothing.
    std::set<std::string> drawn(WorkBudget budget = {}) const {
        const ProblemDrawer drawer(supported, budget);
        std::set<std::string> texts;
        for (std::uint64_t seed = 0; seed < 3000; ++seed) {
            SplitMix64 random(seed);
            const std::optional<Problem> problem = drawer(random);
            if (problem) CHECK(supported.contains(*problem));
            texts.insert(problem ? problem->print() : "-");
        }
        return texts;
    }
};

std::vector<Constraint> all_but_a(Condition condition) {
    return {where("a", std::move(condition)), where("b", equals(1)), where("c", equals(1)),
            where("d", equals(1))};
}

}  // namespace

TEST_CASE("a draw may cost exactly its budget") {
    const Space space(all_but_a(between(1, 5000)));
    const std::set<std::string> problems =
        space.drawn({.multiply_adds = 1025, .longest_factor = 2.0});
    CHECK(problems.contains("a=1025"));
    CHECK_FALSE(problems.contains("a=4097"));
    // A few of the longest lengths may cost more.
    CHECK(problems.contains("a=2049"));
    CHECK_FALSE(space.drawn({.multiply_adds = 1025, .longest_factor = 1.9}).contains("a=2049"));
    CHECK(space.drawn({.multiply_adds = 1024.5}).contains("a=1024"));
    CHECK_FALSE(space.drawn({.multiply_adds = 1024.5}).contains("a=1025"));
    CHECK(Space(all_but_a(between(8, 5000))).drawn({.multiply_adds = 8}) ==
          std::set<std::string>{"a=8"});
    CHECK(Space(all_but_a(between(8, 5000))).drawn({.multiply_adds = 7}) ==
          std::set<std::string>{"-"});
}

TEST_CASE("where no large value is within the budget, or there is none, a draw ends") {
    // Nothing but a has large values.
    const std::set<std::string> cheap =
        Space(all_but_a(between(1, 1 << 20))).drawn({.multiply_adds = 12});
    CHECK(cheap.contains("a=8"));
    CHECK_FALSE(cheap.contains("a=15"));
    CHECK(Space(all_but_a(between(1, 3))).drawn() == std::set<std::string>{"", "a=2", "a=3"});
}

TEST_CASE("a draw that relations lead into a dead end comes to nothing, and others are made") {
    const Space chain({where("b", multiple_of("a")), where("b", multiple_of("c")),
                       where("d", multiple_of("b")), where("a", equals(2)),
                       where("c", between(4, 6)), where("b", between(5, 10)),
                       where("d", equals(12))});
    // With c = 4 only b = 8 is left, which does not divide 12.
    CHECK(chain.drawn() == std::set<std::string>{"-", "a=2,b=6,c=6,d=12"});
}

TEST_CASE("a large divisor needs multiples as large") {
    const Space space({where("b", multiple_of("a")), where("b", between(100, 130))});
    const std::set<std::string> problems = space.drawn();
    CHECK(problems.contains("a=63,b=126"));
    CHECK_FALSE(problems.contains("-"));
}

TEST_CASE("where no parameter may be zero, draws for a kernel that takes empty problems are made") {
    CHECK(Space(all_but_a(between(1, 3)), test_kernel().with_empty_problems()).drawn() ==
          std::set<std::string>{"", "a=2", "a=3"});
}
