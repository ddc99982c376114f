// SPDX-License-Identifier: Apache-2.0
// That what is claimed of a shrunk problem has been run: every smaller problem, or every one in its
// box, within each phase's budget.
#include "properties/shrinking/shrink_problem.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "properties/problems/enumerate.hpp"
#include "properties/tests/shrinking.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

}  // namespace

TEST_CASE("a smaller failing problem that no step leads to is found by running all before it") {
    const TestKernel kernel(test_kernel());
    const Problem island = parsed("n=2,k=2,in=1x1,stride=2x1");
    const Problem found = parsed("c=3,in=3x1,padding=0x1");
    const auto fails = [&](const Problem& p) { return p == island || p == found; };
    const Shrunk shrunk = shrink_from(kernel, found, failing_where(fails), {}, descent_only());
    CHECK(shrunk.smallest.problem == island);
    CHECK(shrunk.minimal());
}

TEST_CASE("what fails along one axis is shrunk to as few axes as the kernel takes") {
    const Operator op = make_test_operator(1, 3);
    // Too far from the default for all smaller problems to be run.
    const auto fails = [](const Problem& p) {
        for (int axis = 0; axis < p.rank(); ++axis)
            if (const TestAxis a(p, axis); a.in >= 9 && a.filter >= 4 && a.stride >= 3)
                return p.scalar("n") >= 5 && p.scalar("c") >= 4;
        return false;
    };
    for (const auto& [fewest, smallest] : {std::pair{1, "n=5,c=4,in=9,filter=4,stride=3"},
                                           {2, "n=5,c=4,in=1x9,filter=1x4,stride=1x3"},
                                           {3, "n=5,c=4,in=1x1x9,filter=1x1x4,stride=1x1x3"}})
        for (const char* found : {"n=6,c=5,k=2,in=4x10x3,filter=2x5x1,stride=1x4x2,padding=1x0x1",
                                  "n=5,c=4,in=9x1x1,filter=4x1x1,stride=3x1x1"}) {
            TestKernel kernel(test_kernel().spatial_axes(fewest, 3));
            kernel.kernel.op = &op;
            kernel.kernel.pass = op.find_pass("grad_weight");
            const Shrunk shrunk =
                shrink_from(kernel, Problem::parse(op.space, found), failing_where(fails));
            CHECK(shrunk.smallest.problem.print() == smallest);
        }
}

TEST_CASE("a failure that nothing smaller shows is minimal as it stands") {
    const TestKernel kernel(test_kernel());
    const Problem found = parsed("c=2,in=2x1,stride=1x2");
    const Shrunk shrunk =
        shrink_from(kernel, found, failing_where([&](const Problem& p) { return p == found; }));
    CHECK(shrunk.smallest.problem == found);
    CHECK(shrunk.minimal());
    CHECK(shrunk.smallest.data.is_dense);
}

TEST_CASE("beyond the budget of runs or seconds nothing is called minimal") {
    const TestKernel kernel(test_kernel());
    const Problem found = parsed("c=4,in=4x4");
    const CaseRunner runner = failing_where([&](const Problem& p) { return p == found; });
    ShrinkOptions runs = patient();
    runs.problem.certification.runs = 300;
    const Shrunk few = shrink_from(kernel, found, runner, {}, runs);
    CHECK_FALSE(few.minimal());
    CHECK(few.runs <
          300 + runs.problem.descent.runs + runs.problem.near.runs + runs.problem.box.runs);
    ShrinkOptions seconds = patient();
    seconds.problem.certification.seconds = 0.0;
    CHECK_FALSE(shrink_from(kernel, found, runner, {}, seconds).minimal());
}

TEST_CASE("the budget's seconds are those that runs take of a processor") {
    const TestKernel kernel(test_kernel());
    const Problem found = parsed("c=4,in=4x4");
    // Each run takes as long as all phases may together, by its own account alone.
    const CaseRunner runner = [&](const Case& candidate) {
        Outcome outcome = candidate.problem == found ? Outcome::failed("wrong") : Outcome::passed();
        outcome.seconds_cpu = 100.0;
        return outcome;
    };
    const Shrunk shrunk = shrink_from(kernel, found, runner, {}, ShrinkOptions{});
    CHECK_FALSE(shrunk.minimal());
    CHECK(shrunk.runs < 100);
}

TEST_CASE("no case is run twice, and each run is counted") {
    const TestKernel kernel(test_kernel());
    const Problem found = parsed("c=2,k=2,in=2x3");
    std::set<std::string> seen;
    std::int64_t runs = 0;
    const auto runner = [&](const Case& candidate) {
        ++runs;
        const std::string text = candidate.problem.print() + std::to_string(candidate.data.seed);
        CHECK_MESSAGE(seen.insert(text).second, text);
        return candidate.problem == found ? Outcome::failed("wrong") : Outcome::passed();
    };
    CHECK(shrink_from(kernel, found, runner).runs == runs);
    CHECK(runs > 100);
}

TEST_CASE("a search for smaller problems that gave up proves nothing") {
    const TestKernel kernel(
        test_kernel().only_if("many images", [](const Problem& p) { return p.scalar("n") >= 20; }));
    ShrinkOptions options = patient();
    options.problem.enumeration_steps = 1000;
    const CaseRunner runner = failing_where([](const Problem&) { return true; });
    const Shrunk shrunk = shrink_from(kernel, parsed("n=30,in=1x1"), runner, {}, options);
    CHECK(shrunk.smallest.problem.scalar("n") >= 20);
    CHECK_FALSE(shrunk.minimal());
}

TEST_CASE("certified says how many problems are smaller, and runs each with every dense draw") {
    const TestKernel kernel(test_kernel());
    const SupportedProblems supported(test_operator(), *kernel.kernel.pass, kernel.declaration);
    const Problem found = parsed("c=2,k=2,groups=2,in=1x2");
    std::map<std::string, std::set<std::uint64_t>> draws;
    const CaseRunner runner = [&](const Case& candidate) {
        CHECK(candidate.data.is_dense);
        draws[candidate.problem.print()].insert(candidate.data.seed);
        return candidate.problem == found ? Outcome::failed("wrong") : Outcome::passed();
    };
    const Shrunk shrunk = shrink_from(kernel, found, runner);
    const std::int64_t smaller = count_before(supported, found, 100'000);
    CHECK(shrunk.minimality.kind == Minimality::Kind::certified);
    CHECK(shrunk.minimality.passed == smaller);
    CHECK(shrunk.minimality.of == smaller);
    std::int64_t thrice = 0;
    for (const auto& [problem, seeds] : draws) thrice += seeds.size() == 3;
    CHECK(thrice >= smaller);
    CHECK(shrunk.smallest.problem == found);
}

TEST_CASE("where smaller problems are too many, those in the box are run") {
    const TestKernel kernel(test_kernel());
    const Problem found = parsed("n=4,c=3,k=3,in=5x6,filter=2x2");
    std::set<std::string> passed;
    const CaseRunner runner = [&](const Case& candidate) {
        if (candidate.problem == found) return Outcome::failed("wrong");
        passed.insert(candidate.problem.print());
        return Outcome::passed();
    };
    ShrinkOptions options = descent_only();
    options.problem.certification.runs = 3000;
    const Shrunk shrunk = shrink_from(kernel, found, runner, {}, options);
    // n 0..4, c 1..3, k 1..3, in 1..5 and 1..6, filters that fit in the image or not; the kernel is
    // given no problem without output.
    std::int64_t in_box = 0;
    const SupportedProblems supported(test_operator(), *kernel.kernel.pass, kernel.declaration);
    for (std::int64_t n = 0; n <= 4; ++n)
        for (std::int64_t c = 1; c <= 3; ++c)
            for (std::int64_t k = 1; k <= 3; ++k)
                for (std::int64_t h = 1; h <= 5; ++h)
                    for (std::int64_t w = 1; w <= 6; ++w)
                        for (const char* filter : {"1x1", "1x2", "2x1", "2x2"}) {
                            const Problem p =
                                parsed("n=" + std::to_string(n) + ",c=" + std::to_string(c) +
                                       ",k=" + std::to_string(k) + ",in=" + std::to_string(h) +
                                       "x" + std::to_string(w) + ",filter=" + filter);
                            if (!supported.contains(p) || p == found) continue;
                            ++in_box;
                            CHECK(passed.contains(p.print()));
                        }
    CHECK_FALSE(shrunk.minimal());
    CHECK(shrunk.minimality.kind == Minimality::Kind::boxed);
    CHECK(shrunk.minimality.of == in_box);
    CHECK(shrunk.minimality.passed == in_box);
    CHECK_FALSE(shrunk.minimality.of_is_least);

    options.problem.box.runs = 300;
    options.problem.descent.runs = 0;
    const Minimality cut = shrink_from(kernel, found, runner, {}, options).minimality;
    CHECK(cut.kind == Minimality::Kind::boxed);
    CHECK(cut.of == in_box);
    CHECK(cut.passed == 100);
    options.problem.box_counted = 500;
    const Minimality least = shrink_from(kernel, found, runner, {}, options).minimality;
    CHECK(least.of == 500);
    CHECK(least.of_is_least);
}

TEST_CASE("a smaller failing problem in the box is taken, and what is boxed is its box") {
    const TestKernel kernel(test_kernel());
    const Problem found = parsed("n=9,c=3,k=3,in=5x6,filter=2x2");
    const Problem inside = parsed("n=7,c=2,in=4x1");
    const CaseRunner runner =
        failing_where([&](const Problem& p) { return p == found || p == inside; });
    ShrinkOptions options = descent_only();
    options.problem.descent.runs = 0;
    options.problem.certification.runs = 3000;
    const Shrunk shrunk = shrink_from(kernel, found, runner, {}, options);
    CHECK(shrunk.smallest.problem == inside);
    CHECK(shrunk.minimality.kind == Minimality::Kind::boxed);
    CHECK(shrunk.minimality.of == 7 * 2 * 4 - 1);
    CHECK(shrunk.minimality.passed == shrunk.minimality.of);
}

TEST_CASE("what only the found data or setting shows is shrunk, but not certified") {
    const TestKernel kernel(test_kernel());
    const auto shrink_where = [&](const std::function<bool(const Case&)>& shows) {
        Case found = case_on(kernel, parsed("n=9,in=2x3"), 77);
        found.setting = {.order = ThreadOrder::random_threads, .order_seed = 5};
        const CaseRunner runner = [&](const Case& candidate) {
            return candidate.problem.scalar("n") >= 3 && shows(candidate) ? Outcome::failed("wrong")
                                                                          : Outcome::passed();
        };
        return shrink_case(kernel.kernel, found, Outcome::failed("first"), runner, {}, patient());
    };
    const Shrunk data = shrink_where([](const Case& c) { return c.data.seed == 77; });
    CHECK(data.smallest.problem.print() == "n=3,in=1x1");
    CHECK(data.minimality.kind == Minimality::Kind::none);
    const Shrunk setting =
        shrink_where([](const Case& c) { return c.setting.order_seed == 5 && c.data.is_dense; });
    CHECK(setting.smallest.problem.print() == "n=3,in=1x1");
    CHECK(setting.minimality.kind == Minimality::Kind::none);
}

namespace {

/// Options with budgets for these phases alone, in runs.
ShrinkOptions budgets(std::int64_t near, std::int64_t descent, std::int64_t certification,
                      std::int64_t box) {
    ShrinkOptions options = patient();
    options.problem.near.runs = near;
    options.problem.descent.runs = descent;
    options.problem.certification.runs = certification;
    options.problem.box.runs = box;
    return options;
}

/// The supported problems up to a distance from the default one.
std::vector<Problem> problems_up_to(const TestKernel& kernel, std::int64_t distance) {
    const SupportedProblems supported(test_operator(), *kernel.kernel.pass, kernel.declaration);
    ProblemEnumerator enumerator(supported, {.distance = distance});
    std::vector<Problem> problems;
    while (auto next = enumerator.next()) problems.push_back(*next);
    return problems;
}

}  // namespace

TEST_CASE("the nearest problems are run first, up to a distance of two and no farther") {
    const TestKernel kernel(test_kernel());
    const Problem found = parsed("n=9,in=4x3");
    std::set<std::string> seen;
    const CaseRunner runner = [&](const Case& candidate) {
        seen.insert(candidate.problem.print());
        return candidate.problem == found ? Outcome::failed("wrong") : Outcome::passed();
    };
    const Shrunk shrunk = shrink_from(kernel, found, runner, {}, budgets(10'000, 0, 0, 0));
    const std::vector<Problem> near = problems_up_to(kernel, 2);
    CHECK(seen.size() == near.size() + 1);
    for (const Problem& problem : near) CHECK(seen.contains(problem.print()));
    CHECK(shrunk.runs == static_cast<std::int64_t>(3 * near.size() + 1));
    CHECK(shrunk.minimality.kind == Minimality::Kind::boxed);
    // What is known of the box is part of it.
    CHECK(shrunk.minimality.of == 9 * 4 * 3 - 1);
    CHECK(shrunk.minimality.passed == std::ranges::count_if(near, [](const Problem& p) {
              return p == parsed("n=" + std::to_string(p.scalar("n")) +
                                 ",in=" + std::to_string(p.on_axis("in", 0)) + "x" +
                                 std::to_string(p.on_axis("in", 1)));
          }));
}

TEST_CASE("what fails among the nearest problems is certified there") {
    const TestKernel kernel(test_kernel());
    const Shrunk shrunk = shrink_from(
        kernel, parsed("n=9,c=3,in=4x3"),
        failing_where([](const Problem& p) { return p.scalar("n") >= 2 && p.scalar("c") >= 2; }),
        {}, budgets(10'000, 0, 0, 0));
    CHECK(shrunk.smallest.problem == parsed("n=2,c=2,in=1x1"));
    CHECK(shrunk.minimal());
    // So is the first problem beyond them: all before it have passed.
    const std::size_t near = problems_up_to(kernel, 2).size();
    const Problem first = problems_up_to(kernel, 3)[near];
    const Shrunk beyond =
        shrink_from(kernel, first, failing_where([&](const Problem& p) { return p == first; }), {},
                    budgets(10'000, 0, 0, 0));
    CHECK(beyond.minimal());
    CHECK(beyond.minimality.passed == static_cast<std::int64_t>(near));
}

TEST_CASE("every smaller problem is run if the budget has three runs for each, and not if less") {
    const TestKernel kernel(test_kernel());
    const Problem found = parsed("c=2,in=2x1,stride=1x2");
    const CaseRunner runner = failing_where([&](const Problem& p) { return p == found; });
    const SupportedProblems supported(test_operator(), *kernel.kernel.pass, kernel.declaration);
    const std::int64_t smaller = count_before(supported, found, 100'000);
    const auto shrink = [&](std::int64_t near, std::int64_t certification) {
        return shrink_from(kernel, found, runner, {}, budgets(near, 0, certification, 0));
    };
    const Shrunk enough = shrink(0, 3 * smaller);
    CHECK(enough.minimal());
    CHECK(enough.runs == 3 * smaller + 1);
    const Shrunk too_few = shrink(0, 3 * smaller - 1);
    CHECK_FALSE(too_few.minimal());
    CHECK(too_few.runs == 1);
    // Those that have passed already count.
    CHECK(shrink(30, 3 * (smaller - 10)).minimal());
    CHECK(shrink(30, 3 * (smaller - 10) - 1).runs == 31);
}

TEST_CASE("a found problem that is not supported stays the smallest, if nothing smaller fails") {
    const TestKernel kernel(test_kernel().where("c", multiple_of(2)));
    const Problem found = parsed("c=3,in=1x1");
    const Shrunk shrunk = shrink_from(
        kernel, found, failing_where([](const Problem& p) { return p.scalar("c") >= 3; }), {},
        descent_only());
    CHECK(shrunk.smallest.problem == found);
}

TEST_CASE("the box is gone through again from what was found in it, four times at most") {
    const TestKernel kernel(test_kernel());
    // By turns found in the box of the one before, and by one step out of it: n down and k up.
    const std::vector<Problem> chain{
        parsed("n=60,k=60,in=1x1"), parsed("n=41,k=60,in=1x1"), parsed("n=40,k=61,in=1x1"),
        parsed("n=27,k=61,in=1x1"), parsed("n=26,k=62,in=1x1"), parsed("n=15,k=62,in=1x1"),
        parsed("n=14,k=63,in=1x1"), parsed("n=9,k=63,in=1x1"),  parsed("n=8,k=64,in=1x1")};
    const CaseRunner runner =
        failing_where([&](const Problem& p) { return std::ranges::find(chain, p) != chain.end(); });
    const Shrunk shrunk =
        shrink_from(kernel, chain.front(), runner, {}, budgets(0, 10'000, 0, 100'000));
    CHECK(shrunk.smallest.problem == chain[7]);
    CHECK(shrunk.minimality.kind == Minimality::Kind::none);
    const Shrunk later = shrink_from(kernel, chain[6], runner, {}, budgets(0, 10'000, 0, 100'000));
    CHECK(later.smallest.problem == chain[8]);
    CHECK(later.minimality.kind == Minimality::Kind::boxed);
}

TEST_CASE("a box that is not counted to its end is said to hold at least so many") {
    const TestKernel kernel(test_kernel());
    const Problem found = parsed("n=5,c=5,k=5,in=1x1");
    const CaseRunner runner = failing_where([&](const Problem& p) { return p == found; });
    ShrinkOptions options = budgets(0, 0, 0, 10'000);
    const auto boxed = [&] { return shrink_from(kernel, found, runner, {}, options).minimality; };
    options.problem.box_counted = 50;
    CHECK(boxed().of_is_least);
    CHECK(boxed().of == 50);
    CHECK(boxed().passed == 50);
    options.problem.box_counted = 124;
    CHECK(boxed().of == 124);
    CHECK_FALSE(boxed().of_is_least);
    options.problem.enumeration_steps = 500;
    CHECK(boxed().of_is_least);
    CHECK(boxed().of < 124);
}

TEST_CASE("a failure found by its own data is certified where dense data shows it too") {
    const TestKernel kernel(test_kernel());
    Case found = case_on(kernel, parsed("n=9,in=2x3"), 77);
    const CaseRunner runner = [&](const Case& candidate) {
        const std::int64_t n = candidate.problem.scalar("n");
        const bool fails =
            n >= 3 && (candidate.data.seed == 77 || (candidate.data.is_dense && n < 6));
        return fails ? Outcome::failed("wrong") : Outcome::passed();
    };
    const Shrunk shrunk =
        shrink_case(kernel.kernel, found, Outcome::failed("first"), runner, {}, patient());
    CHECK(shrunk.smallest.problem == parsed("n=3,in=1x1"));
    CHECK(shrunk.minimal());
    CHECK(shrunk.smallest.data.is_dense);
}
