// SPDX-License-Identifier: Apache-2.0
// That the enumeration yields every supported problem, once, in the order of problems.
#include "properties/problems/enumerate.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "properties/tests/operator.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

SupportedProblems supported_by(const KernelDeclaration& kernel,
                               const Operator& op = test_operator()) {
    return SupportedProblems(op, *op.find_pass("grad_weight"), kernel);
}

std::vector<Problem> first_problems(const SupportedProblems& problems, std::size_t count) {
    ProblemEnumerator enumerator(problems);
    std::vector<Problem> found;
    while (found.size() < count) found.push_back(enumerator.next().value());
    return found;
}

std::vector<std::string> printed(const std::vector<Problem>& problems) {
    std::vector<std::string> texts;
    for (const Problem& problem : problems) texts.push_back(problem.print());
    return texts;
}

/// Every problem of one rank up to a distance, found by trying all values of all slots.
void collect(Problem& problem, int slot, std::int64_t distance, const SupportedProblems& supported,
             std::vector<Problem>& found) {
    if (slot == static_cast<int>(problem.slots().size())) {
        if (problem.distance() <= distance && supported.contains(problem)) found.push_back(problem);
        return;
    }
    const ParameterSpec& spec =
        problem.space().spec(problem.slots()[static_cast<std::size_t>(slot)]);
    const std::int64_t before = problem[slot];
    for (std::int64_t v = spec.minimum; v <= spec.default_value + distance; ++v) {
        problem[slot] = v;
        Problem so_far = problem;
        // Later right sides follow their left ones, which is what costs least.
        for (int later = slot + 1; later < static_cast<int>(problem.slots().size()); ++later)
            if (problem.slots()[static_cast<std::size_t>(later)].side == Side::right)
                so_far[later] = so_far[later - 1];
        if (so_far.distance() <= distance) collect(problem, slot + 1, distance, supported, found);
    }
    problem[slot] = before;
}

std::vector<Problem> by_trying_all(const SupportedProblems& supported, std::int64_t distance) {
    std::vector<Problem> found;
    for (const RankDomain& domain : supported.domains()) {
        Problem problem(supported.op().space, domain.rank);
        collect(problem, 0, distance, supported, found);
    }
    std::ranges::sort(found, [](const Problem& a, const Problem& b) { return a < b; });
    return found;
}

std::vector<Problem> by_enumeration(const SupportedProblems& supported, std::int64_t distance) {
    ProblemEnumerator enumerator(supported, {.distance = distance});
    std::vector<Problem> found;
    while (std::optional<Problem> problem = enumerator.next()) found.push_back(std::move(*problem));
    CHECK_FALSE(enumerator.gave_up());
    return found;
}

/// Parameters with a range on both sides of their defaults, and padding.
Operator two_sided_operator() {
    const auto size = [](const Problem& p) { return Sizes{p.scalar("a"), p.scalar("b")}; };
    Operator op{.name = "two_sided",
                .space = ParameterSpace(
                    {{.name = "a", .default_value = 3, .minimum = 1, .maximum = 4},
                     {.name = "b", .default_value = 2, .minimum = 1, .maximum = 6},
                     {.name = "in", .kind = ParameterKind::per_axis, .carries_rank = true},
                     {.name = "padding",
                      .kind = ParameterKind::per_axis_pair,
                      .default_value = 1,
                      .minimum = 0,
                      .maximum = 3,
                      .is_padding = true}},
                    1, 1)};
    op.inputs = {{.name = "x", .sizes = size}};
    op.passes = {test_pass("grad_weight", {"x"}, "dx")};
    return op;
}

}  // namespace

TEST_CASE("the first problems are the default one and its neighbours, padding last") {
    const KernelDeclaration kernel = test_kernel().with_empty_problems();
    CHECK(printed(first_problems(supported_by(kernel), 14)) ==
          std::vector<std::string>{"in=1x1", "n=0,in=1x1", "in=1x1,dilation=1x2",
                                   "in=1x1,dilation=2x1", "in=1x1,stride=1x2", "in=1x1,stride=2x1",
                                   "in=1x1,filter=1x2", "in=1x1,filter=2x1", "in=1x2", "in=2x1",
                                   "k=2,in=1x1", "c=2,in=1x1", "n=2,in=1x1", "in=1x1,padding=0x1"});
}

TEST_CASE("the enumeration yields what trying all values finds, in the same order") {
    KernelDeclaration everything = test_kernel().with_empty_problems();
    KernelDeclaration plain = plain_kernel();
    KernelDeclaration odd = test_kernel();
    odd.where("n", between(2, 3)).where("stride_h", same_as("padding_left_w"));
    odd.where("k", multiple_of(2)).only_if("in_h is odd", [](const Problem& p) {
        return p.on_axis("in", 0) % 2 == 1;
    });
    for (const KernelDeclaration* kernel : {&everything, &plain, &odd}) {
        const SupportedProblems supported = supported_by(*kernel);
        const std::vector<Problem> found = by_enumeration(supported, 4);
        CHECK(found.size() > 8);
        CHECK(printed(found) == printed(by_trying_all(supported, 4)));
    }
}

TEST_CASE("paddings of their own on each side, and several ranks, are enumerated in order too") {
    Operator sides = make_test_operator(), ranks = make_test_operator(1, 2), both = ranks;
    for (Operator* op : {&sides, &both}) op->constraints.pop_back();
    struct Line {
        const Operator& op;
        std::vector<Constraint> constraints;
        std::int64_t distance;
        const char* first;
    };
    for (const Line& line :
         {Line{both, {where("padding_right", between(1, 3))}, 4, "in=1,padding=0+1"},
          {ranks, {where("padding", between(1, 3))}, 6, "in=1,padding=1"},
          {ranks, {where("padding", equals(1))}, 6, "in=1,padding=1"},
          {sides,
           {where("padding_right", equals(1)), where("padding_left_h", equals(1))},
           4,
           "in=1x1,padding=1+1x0+1"}}) {
        KernelDeclaration kernel = test_kernel();
        kernel.constraints = line.constraints;
        const SupportedProblems supported = supported_by(kernel, line.op);
        const std::vector<Problem> found = by_enumeration(supported, line.distance);
        CHECK(found.size() > 8);
        CHECK(printed(found) == printed(by_trying_all(supported, line.distance)));
        CHECK(found.front().print() == line.first);
        CHECK(found.back().rank() == 2);
    }
}

TEST_CASE("parameters that are equal but have different defaults are enumerated in order") {
    const auto size = [](const Problem& p) { return Sizes{p.scalar("a"), p.scalar("d")}; };
    Operator op{.name = "equal",
                .space = ParameterSpace({{.name = "a"},
                                         {.name = "b", .default_value = 3},
                                         {.name = "c", .default_value = 3},
                                         {.name = "d"}},
                                        0, 0)};
    op.inputs = {{.name = "x", .sizes = size}};
    op.passes = {test_pass("grad_weight", {"x"}, "dx")};
    KernelDeclaration kernel = test_kernel();
    kernel.where("a", same_as("b")).where("b", same_as("c"));
    const SupportedProblems supported = supported_by(kernel, op);
    const std::vector<Problem> found = by_enumeration(supported, 6);
    CHECK(found.front().print() == "a=3");
    CHECK(printed(found) == printed(by_trying_all(supported, 6)));
    // Between all defaults and 2 there is only 2.
    const Problem corner = Problem::parse(op.space, "a=2,b=2,c=2");
    ProblemEnumerator box(supported, {.box = &corner});
    CHECK(box.next() == corner);
    CHECK_FALSE(box.next().has_value());
}

TEST_CASE("an enumeration starts at the kernel's own smallest problem, however far that is") {
    KernelDeclaration kernel = test_kernel();
    kernel.where("c", multiple_of(64)).where("k", equals(96)).where("groups", equals(1));
    const std::vector<Problem> found = first_problems(supported_by(kernel), 2);
    CHECK(printed(found) ==
          std::vector<std::string>{"c=64,k=96,in=1x1", "c=64,k=96,in=1x1,dilation=1x2"});
}

TEST_CASE("a parameter that is fixed far away takes no steps of the others") {
    KernelDeclaration kernel = test_kernel();
    kernel.where("k", equals(1 << 29)).where("groups", equals(1));
    const SupportedProblems supported = supported_by(kernel);
    ProblemEnumerator enumerator(supported, {.steps = 1'000});
    const std::optional<Problem> first = enumerator.next(), second = enumerator.next();
    REQUIRE(second.has_value());
    CHECK(first->print() == "k=536870912,in=1x1");
    CHECK(second->print() == "k=536870912,in=1x1,dilation=1x2");
}

TEST_CASE("an enumeration of a finite set ends") {
    KernelDeclaration kernel = plain_kernel();
    kernel.where("n", between(1, 3)).where("c", equals(5)).where("k", equals(2));
    kernel.where("in", equals(4)).where("filter", between(1, 9));
    CHECK(by_enumeration(supported_by(kernel), 1'000'000).size() == 3 * 4);
}

TEST_CASE("an enumeration that finds nothing gives up, and says so") {
    KernelDeclaration kernel = test_kernel();
    kernel.only_if("never", [](const Problem&) { return false; });
    const SupportedProblems supported = supported_by(kernel);
    ProblemEnumerator enumerator(supported, {.steps = 100'000});
    CHECK_FALSE(enumerator.next().has_value());
    CHECK(enumerator.gave_up());
}

TEST_CASE("the problems before one are counted, up to a number") {
    const KernelDeclaration kernel = test_kernel().with_empty_problems();
    const SupportedProblems supported = supported_by(kernel);
    const auto count = [&](std::string_view text, std::int64_t most) {
        return count_before(supported, Problem::parse(test_operator().space, text), most);
    };
    CHECK(count("in=1x1", 100) == 0);
    CHECK(count("n=0,in=1x1", 100) == 1);
    CHECK(count("in=1x2", 100) == 8);
    CHECK(count("in=9x9", 100) == 100);
}

TEST_CASE("a count that took too many steps is the most; one beyond all problems counts all") {
    KernelDeclaration kernel = test_kernel().with_empty_problems();
    const Problem far = Problem::parse(test_operator().space, "n=3,in=9x9");
    const SupportedProblems supported = supported_by(kernel);
    CHECK(count_before(supported, far, 1'000'000, 300) == 1'000'000);
    kernel = plain_kernel();
    kernel.where("n", between(1, 3)).where("c", equals(1)).where("k", equals(1));
    kernel.where("in", equals(1)).where("filter", equals(1));
    const SupportedProblems three = supported_by(kernel);
    CHECK(count_before(three, far, 100) == 3);
    CHECK(count_before(three, far, 2) == 2);
}

TEST_CASE("ranges on both sides of a default are enumerated to their ends") {
    const Operator op = two_sided_operator();
    const KernelDeclaration kernel = test_kernel().where("in", between(1, 2));
    const SupportedProblems supported(op, op.forward(), kernel);
    const std::vector<Problem> found = by_enumeration(supported, 1'000'000);
    CHECK(found.size() == 4 * 6 * 2 * 4 * 4);
    CHECK(printed(found) == printed(by_trying_all(supported, 12)));
    for (const char* text : {"a=1,b=6,in=2,padding=0+3", "a=4,b=1,in=1,padding=3+0"}) {
        const Problem corner = Problem::parse(op.space, text);
        ProblemEnumerator box(supported, {.box = &corner});
        std::size_t count = 0;
        while (box.next()) ++count;
        CHECK(count == (text[2] == '1' ? 3 * 5 * 2 * 2 * 3 : 2 * 2 * 1 * 3 * 2));
    }
}

TEST_CASE("a box holds the problems between the defaults and a problem, in order, and no other") {
    const Operator op = make_test_operator();
    for (const char* text : {"n=3,c=4,k=2,groups=2,in=3x2", "n=0,in=2x2,padding=1x2",
                             "in=4x1,filter=2x1,stride=2,dilation=3x1", "in=1x1"}) {
        CAPTURE(std::string(text));
        const KernelDeclaration kernel = test_kernel().with_empty_problems();
        const SupportedProblems supported(op, *op.find_pass("grad_weight"), kernel);
        const Problem corner = Problem::parse(op.space, text);
        const auto in_box = [&](const Problem& p) {
            for (int slot = 0; slot < static_cast<int>(p.values().size()); ++slot) {
                const std::int64_t usual =
                    op.space.spec(p.slots()[static_cast<std::size_t>(slot)]).default_value;
                if (p[slot] < std::min(usual, corner[slot]) ||
                    p[slot] > std::max(usual, corner[slot]))
                    return false;
            }
            return true;
        };
        std::vector<std::string> expected, found;
        ProblemEnumerator all(supported, {.distance = corner.distance()});
        for (auto next = all.next(); next; next = all.next())
            if (in_box(*next)) expected.push_back(next->print());
        ProblemEnumerator box(supported, {.distance = corner.distance(), .box = &corner});
        for (auto next = box.next(); next; next = box.next()) found.push_back(next->print());
        CHECK(found == expected);
        CHECK(found.back() == corner.print());
    }
}
