// SPDX-License-Identifier: Apache-2.0
// The enumeration yields every supported problem, once, in the order of problems.
#include "properties/problems/enumerate.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "properties/tests/test_operator.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

using Texts = std::vector<std::string>;

Texts next_of(ProblemEnumerator& enumerator, std::size_t most = 1'000'000) {
    Texts found;
    while (found.size() < most)
        if (const std::optional<Problem> problem = enumerator.next())
            found.push_back(problem->print());
        else
            break;
    return found;
}

/// Every problem of one rank up to a distance, found by trying all values of all slots.
void collect(Problem& problem, int slot, std::int64_t distance, const SupportedProblems& supported,
             std::vector<Problem>& found) {
    if (slot == static_cast<int>(problem.slots().size())) {
        if (problem.distance() <= distance && supported.contains(problem)) found.push_back(problem);
        return;
    }
    const ParameterSpec& spec = problem.space().spec(problem.rank(), slot);
    const std::int64_t before = problem[slot];
    for (std::int64_t v = spec.minimum; v <= spec.default_value + distance; ++v) {
        problem[slot] = v;
        Problem so_far = problem;
        // Later right sides follow their left ones, which is what costs least.
        for (int later = slot + 1; later < static_cast<int>(problem.slots().size()); ++later)
            if (problem.space().slot(problem.rank(), later).side == Side::right)
                so_far[later] = so_far[later - 1];
        if (so_far.distance() <= distance) collect(problem, slot + 1, distance, supported, found);
    }
    problem[slot] = before;
}

Texts by_trying_all(const SupportedProblems& supported, std::int64_t distance) {
    std::vector<Problem> found;
    for (const RankDomain& domain : supported.domains()) {
        Problem problem(supported.op().space, domain.rank);
        collect(problem, 0, distance, supported, found);
    }
    std::ranges::sort(found);
    Texts texts;
    for (const Problem& problem : found) texts.push_back(problem.print());
    return texts;
}

Texts by_enumeration(const SupportedProblems& supported, std::int64_t distance,
                     const Problem* box = nullptr) {
    ProblemEnumerator enumerator(supported, {.distance = distance, .box = box});
    Texts found = next_of(enumerator);
    CHECK_FALSE(enumerator.gave_up());
    return found;
}

/// An operator of these parameters, with a tensor whose sizes are two of them.
Operator with_sizes(ParameterSpace space, const char* first, const char* second) {
    return small_operator(std::move(space), {}, [=](const Problem& p) {
        return Sizes{p.scalar(first), p.scalar(second)};
    });
}

}  // namespace

TEST_CASE("the first problems are the default one and its neighbours, padding last") {
    const Supported supported(test_kernel().with_empty_problems());
    ProblemEnumerator enumerator(supported);
    CHECK(next_of(enumerator, 14) == Texts{"in=1x1", "n=0,in=1x1", "in=1x1,dilation=1x2",
                                           "in=1x1,dilation=2x1", "in=1x1,stride=1x2",
                                           "in=1x1,stride=2x1", "in=1x1,filter=1x2",
                                           "in=1x1,filter=2x1", "in=1x2", "in=2x1", "k=2,in=1x1",
                                           "c=2,in=1x1", "n=2,in=1x1", "in=1x1,padding=0x1"});
}

TEST_CASE("the enumeration yields what trying all values finds, in the same order") {
    KernelDeclaration odd = test_kernel();
    odd.where("n", between(2, 3)).where("stride_h", same_as("padding_left_w"));
    odd.where("k", multiple_of(2)).only_if("in_h is odd", [](const Problem& p) {
        return p.on_axis("in", 0) % 2 == 1;
    });
    for (const KernelDeclaration& kernel :
         {test_kernel().with_empty_problems(), plain_kernel(), odd}) {
        const Supported supported(kernel);
        const Texts found = by_enumeration(supported, 4);
        CHECK(found.size() > 8);
        CHECK(found == by_trying_all(supported, 4));
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
        const Supported supported(kernel, line.op);
        const Texts found = by_enumeration(supported, line.distance);
        CHECK(found.size() > 8);
        CHECK(found == by_trying_all(supported, line.distance));
        CHECK(found.front() == line.first);
        CHECK(supported.parse(found.back()).rank() == 2);
    }
}

TEST_CASE("parameters that are equal but have different defaults are enumerated in order") {
    const ParameterSpace space({{.name = "a"},
                                {.name = "b", .default_value = 3},
                                {.name = "c", .default_value = 3},
                                {.name = "d"}},
                               0, 0);
    const Supported supported(test_kernel().where("a", same_as("b")).where("b", same_as("c")),
                              with_sizes(space, "a", "d"));
    const Texts found = by_enumeration(supported, 6);
    CHECK(found.front() == "a=3");
    CHECK(found == by_trying_all(supported, 6));
    // Between all defaults and 2 there is only 2.
    const Problem corner = supported.parse("a=2,b=2,c=2");
    CHECK(by_enumeration(supported, corner.distance(), &corner) == Texts{corner.print()});
}

TEST_CASE("a parameter that is fixed far away takes no steps of the others") {
    const Supported supported(test_kernel().where("k", equals(1 << 29)).where("groups", equals(1)));
    ProblemEnumerator enumerator(supported, {.steps = 1'000});
    CHECK(next_of(enumerator, 2) == Texts{"k=536870912,in=1x1", "k=536870912,in=1x1,dilation=1x2"});
}

TEST_CASE("an enumeration that finds nothing gives up, and says so") {
    const Supported supported(test_kernel().only_if("never", [](auto&) { return false; }));
    ProblemEnumerator enumerator(supported, {.steps = 100'000});
    CHECK_FALSE(enumerator.next().has_value());
    CHECK(enumerator.gave_up());
}

TEST_CASE("the problems before one are counted, up to a number, or are the most after too long") {
    const Supported supported(test_kernel().with_empty_problems());
    const auto count = [&](std::string_view text, std::int64_t most) {
        return count_before(supported, supported.parse(text), most);
    };
    CHECK(count("in=1x1", 100) == 0);
    CHECK(count("n=0,in=1x1", 100) == 1);
    CHECK(count("in=1x2", 100) == 8);
    CHECK(count("in=9x9", 100) == 100);
    const Problem far = supported.parse("n=3,in=9x9");
    CHECK(count_before(supported, far, 1'000'000, 300) == 1'000'000);
    // One beyond all problems counts all.
    KernelDeclaration kernel = plain_kernel();
    kernel.where("n", between(1, 3)).where("c", equals(1)).where("k", equals(1));
    const Supported three(kernel.where("in", equals(1)).where("filter", equals(1)));
    CHECK(count_before(three, far, 100) == 3);
    CHECK(count_before(three, far, 2) == 2);
}

TEST_CASE("ranges on both sides of a default are enumerated to their ends") {
    const ParameterSpace space(
        {{.name = "a", .default_value = 3, .minimum = 1, .maximum = 4},
         {.name = "b", .default_value = 2, .minimum = 1, .maximum = 6},
         {.name = "in", .kind = ParameterKind::per_axis, .carries_rank = true},
         {.name = "padding",
          .kind = ParameterKind::per_axis_pair,
          .default_value = 1,
          .minimum = 0,
          .maximum = 3,
          .is_padding = true}},
        1, 1);
    const Supported supported(test_kernel().where("in", between(1, 2)),
                              with_sizes(space, "a", "b"));
    const Texts found = by_enumeration(supported, 1'000'000);
    CHECK(found.size() == 4 * 6 * 2 * 4 * 4);
    CHECK(found == by_trying_all(supported, 12));
    for (const auto& [text, count] : {std::pair{"a=1,b=6,in=2,padding=0+3", 3 * 5 * 2 * 2 * 3},
                                      {"a=4,b=1,in=1,padding=3+0", 2 * 2 * 1 * 3 * 2}}) {
        const Problem corner = supported.parse(text);
        CHECK(by_enumeration(supported, 1'000'000, &corner).size() == count);
    }
}

TEST_CASE("a box holds the problems between the defaults and a problem, in order, and no other") {
    const Supported supported(test_kernel().with_empty_problems());
    for (const char* text : {"n=3,c=4,k=2,groups=2,in=3x2", "n=0,in=2x2,padding=1x2",
                             "in=4x1,filter=2x1,stride=2,dilation=3x1", "in=1x1"}) {
        CAPTURE(std::string(text));
        const Problem corner = supported.parse(text);
        const auto is_outside = [&](const std::string& problem) {
            const Problem p = supported.parse(problem);
            for (int slot = 0; slot < static_cast<int>(p.values().size()); ++slot) {
                const auto [least, most] =
                    std::minmax({corner[slot], supported.op.space.spec(2, slot).default_value});
                if (p[slot] < least || p[slot] > most) return true;
            }
            return false;
        };
        Texts expected = by_enumeration(supported, corner.distance());
        std::erase_if(expected, is_outside);
        CHECK(by_enumeration(supported, corner.distance(), &corner) == expected);
        CHECK(expected.back() == corner.print());
    }
}
