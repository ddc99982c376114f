// SPDX-License-Identifier: Apache-2.0
// What is claimed of a shrunk problem has been run, within each phase's budget.
#include "properties/shrinking/shrink_case.hpp"

#include <doctest/doctest.h>

#include <set>

#include "properties/problems/enumerate.hpp"
#include "properties/tests/shrinking.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

ShrinkOptions budgets(std::int64_t near, std::int64_t descent, std::int64_t certification,
                      std::int64_t box) {
    ShrinkOptions options = patient();
    options.near.runs = near;
    options.descent.runs = descent;
    options.certification.runs = certification;
    options.box.runs = box;
    return options;
}

}  // namespace

TEST_CASE("a smaller failing problem that no step leads to is found by running all before it") {
    const Problem island = parsed("n=2,k=2,in=1x1,stride=2x1");
    const Problem found = parsed("c=3,in=3x1,padding=0x1");
    const auto fails = [&](const Problem& p) { return p == island || p == found; };
    const Shrunk shrunk = shrink_from(found, failing_where(fails), descent_only());
    CHECK(shrunk.smallest.problem == island);
    CHECK(shrunk.minimal());
}

TEST_CASE("what fails along one axis is shrunk to as few axes as the kernel takes") {
    const Operator op = make_test_operator(1, 3);
    // Too far from the default for all smaller problems to be run.
    const auto is_far =
        on_some_axis([](const TestAxis& a) { return a.in >= 9 && a.filter >= 4 && a.stride >= 3; });
    const auto fails = [&](const Problem& p) {
        return p.scalar("n") >= 5 && p.scalar("c") >= 4 && is_far(p);
    };
    for (const auto& [fewest, smallest] : {std::pair{1, "n=5,c=4,in=9,filter=4,stride=3"},
                                           {2, "n=5,c=4,in=1x9,filter=1x4,stride=1x3"},
                                           {3, "n=5,c=4,in=1x1x9,filter=1x1x4,stride=1x1x3"}})
        for (const char* found : {"n=6,c=5,k=2,in=4x10x3,filter=2x5x1,stride=1x4x2,padding=1x0x1",
                                  "n=5,c=4,in=9x1x1,filter=4x1x1,stride=3x1x1"}) {
            const TestKernel kernel(test_kernel().spatial_axes(fewest, 3), op);
            const Shrunk shrunk = shrink_from(Problem::parse(op.space, found), failing_where(fails),
                                              patient(), kernel);
            CHECK(shrunk.smallest.problem.print() == smallest);
        }
}

TEST_CASE("the budget's seconds are those that runs take of a processor") {
    const Problem found = parsed("c=4,in=4x4");
    // Each run takes as long as all phases may together, by its own account alone.
    const CaseRunner runner = [&](const Case& candidate) {
        Outcome outcome = failed_if(candidate.problem == found);
        outcome.seconds_cpu = 100.0;
        return outcome;
    };
    const Shrunk shrunk = shrink_from(found, runner, ShrinkOptions{});
    CHECK_FALSE(shrunk.minimal());
    CHECK(shrunk.runs < 100);
}

TEST_CASE("no case is run twice, and each run is counted") {
    const Problem found = parsed("c=2,k=2,in=2x3");
    std::set<std::string> seen;
    std::int64_t runs = 0;
    const auto runner = [&](const Case& candidate) {
        ++runs;
        const std::string text = candidate.problem.print() + std::to_string(candidate.data.seed);
        CHECK_MESSAGE(seen.insert(text).second, text);
        return failed_if(candidate.problem == found);
    };
    CHECK(shrink_from(found, runner).runs == runs);
    CHECK(runs > 100);
}

TEST_CASE("most runs are told before they are asked for, and the result is as without that") {
    const Problem found = parsed("c=2,k=2,in=2x3");
    const auto fails = [&](const Case& candidate) {
        return failed_if(candidate.problem.scalar("c") == 2 && candidate.problem == found);
    };
    const auto told_of = [](const Case& one) {
        return one.problem.print() + ":" + std::to_string(one.data.seed);
    };
    std::set<std::string> told;
    std::int64_t runs = 0, told_before = 0;
    const CaseRunner many(
        [&](const Case& candidate) {
            ++runs;
            told_before += told.contains(told_of(candidate));
            return fails(candidate);
        },
        16,
        [&](const std::vector<Case>& next) {
            told.clear();
            for (const Case& one : next) told.insert(told_of(one));
            CHECK(next.size() <= 48);
        });
    const Shrunk shrunk = shrink_from(found, many), alone = shrink_from(found, fails);
    CHECK(shrunk.runs == alone.runs);
    CHECK(shrunk.smallest.print() == alone.smallest.print());
    CHECK(shrunk.minimality.passed == alone.minimality.passed);
    CHECK(static_cast<double>(told_before) > 0.8 * static_cast<double>(runs));
}

TEST_CASE("a search for smaller problems that gave up proves nothing") {
    const TestKernel kernel(
        test_kernel().only_if("many images", [](const Problem& p) { return p.scalar("n") >= 20; }));
    ShrinkOptions options = patient();
    options.enumeration_steps = 1000;
    const CaseRunner runner = failing_where([](const Problem&) { return true; });
    const Shrunk shrunk = shrink_from(parsed("n=30,in=1x1"), runner, options, kernel);
    CHECK(shrunk.smallest.problem.scalar("n") >= 20);
    CHECK_FALSE(shrunk.minimal());
}

TEST_CASE("where smaller problems are too many, those in the box are run") {
    const Problem found = parsed("n=4,c=3,k=3,in=5x6,filter=2x2");
    std::set<std::string> passed;
    const CaseRunner runner = [&](const Case& candidate) {
        if (candidate.problem != found) passed.insert(candidate.problem.print());
        return failed_if(candidate.problem == found);
    };
    ShrinkOptions options = descent_only();
    options.certification.runs = 3000;
    const Shrunk shrunk = shrink_from(found, runner, options);
    std::int64_t in_box = 0;
    const SupportedProblems supported = any_kernel().supported();
    ProblemEnumerator box(supported, {.distance = found.distance(), .box = &found});
    for (auto next = box.next(); next && *next < found; next = box.next(), ++in_box)
        CHECK(passed.contains(next->print()));
    CHECK(in_box > 500);
    CHECK_FALSE(shrunk.minimal());
    CHECK(shrunk.minimality.kind == Minimality::Kind::boxed);
    CHECK(shrunk.minimality.of == in_box);
    CHECK(shrunk.minimality.passed == in_box);
    CHECK_FALSE(shrunk.minimality.of_is_least);

    options.box.runs = 300;
    options.descent.runs = 0;
    const Minimality cut = shrink_from(found, runner, options).minimality;
    CHECK(cut.kind == Minimality::Kind::boxed);
    CHECK(cut.of == in_box);
    CHECK(cut.passed == 100);
    options.box_counted = 500;
    const Minimality least = shrink_from(found, runner, options).minimality;
    CHECK(least.of == 500);
    CHECK(least.of_is_least);
}

TEST_CASE("a failure that takes a large size is found by halving, in few runs") {
    const Problem found = parsed("n=70001,c=3,in=2x3");
    const auto shrunk_where = [&](const Fails& fails) {
        return shrink_from(found, failing_where(fails));
    };
    const Shrunk grid = shrunk_where([](const Problem& p) { return p.scalar("n") >= 65536; });
    CHECK(grid.smallest.problem.print() == "n=65536,in=1x1");
    CHECK(grid.runs < 1000);
    // What a small problem shows as well is shrunk to it, and certified.
    const Shrunk small = shrunk_where([](const Problem& p) { return p.scalar("c") >= 2; });
    CHECK(small.smallest.problem.print() == "c=2,in=1x1");
    CHECK(small.minimal());
    CHECK(small.runs < 100);
}

TEST_CASE("a grid's limit is found exactly, though large problems that pass use up the time") {
    const CaseRunner runner = [](const Case& candidate) {
        const std::int64_t n = candidate.problem.scalar("n");
        Outcome outcome = failed_if(n > 65535);
        outcome.seconds_cpu = n > 65535 ? 0.001 : 1e-4 * static_cast<double>(n);
        return outcome;
    };
    const Shrunk shrunk = shrink_from(parsed("n=131073,in=2x3"), runner, ShrinkOptions{});
    CHECK(shrunk.smallest.problem.print() == "n=65536,in=1x1");
}

TEST_CASE("what dense data does not show at the smallest problem is shrunk, but not certified") {
    struct Line {
        std::function<bool(const Case&)> shows;
        Minimality::Kind kind;
    };
    for (const Line& line :
         {Line{[](const Case& c) { return c.data.seed == 77; }, Minimality::Kind::none},
          {[](const Case& c) {
               return c.data.seed == 77 || (c.data.is_dense && c.problem.scalar("n") < 6);
           },
           Minimality::Kind::certified}}) {
        Case found = case_on(any_kernel(), parsed("n=9,in=2x3"), 77);
        found.setting = {.order = ThreadOrder::random_threads, .order_seed = 5};
        const CaseRunner runner = [&](const Case& candidate) {
            return failed_if(candidate.problem.scalar("n") >= 3 && line.shows(candidate));
        };
        const Shrunk shrunk = shrink_case(any_kernel().kernel, found, Outcome::failed("first"),
                                          runner, {}, patient());
        CHECK(shrunk.smallest.problem.print() == "n=3,in=1x1");
        CHECK(shrunk.minimality.kind == line.kind);
    }
}

TEST_CASE("the nearest problems are run first, up to a distance of two and no farther") {
    const Problem found = parsed("n=9,in=4x3");
    std::set<std::string> seen;
    const CaseRunner runner = [&](const Case& candidate) {
        seen.insert(candidate.problem.print());
        return failed_if(candidate.problem == found);
    };
    const Shrunk shrunk = shrink_from(found, runner, budgets(10'000, 0, 0, 0));
    const SupportedProblems supported = any_kernel().supported();
    ProblemEnumerator nearest(supported, {.distance = 2});
    std::vector<Problem> near;
    while (auto next = nearest.next()) near.push_back(*next);
    CHECK(seen.size() == near.size() + 1);
    for (const Problem& problem : near) CHECK(seen.contains(problem.print()));
    CHECK(shrunk.runs == static_cast<std::int64_t>(3 * near.size() + 1));
    CHECK(shrunk.minimality.kind == Minimality::Kind::boxed);
    // Those in the box that are known to pass count.
    CHECK(shrunk.minimality.of == 9 * 4 * 3 - 1);
    CHECK(shrunk.minimality.passed > 5);
    CHECK(shrunk.minimality.passed < static_cast<std::int64_t>(near.size()));
}

TEST_CASE("every smaller problem is run if the budget has three runs for each, and not if less") {
    const Problem found = parsed("c=2,in=2x1,stride=1x2");
    const CaseRunner runner = failing_where([&](const Problem& p) { return p == found; });
    const SupportedProblems supported = any_kernel().supported();
    const std::int64_t smaller = count_before(supported, found, 100'000);
    const auto shrink = [&](std::int64_t near, std::int64_t certification) {
        return shrink_from(found, runner, budgets(near, 0, certification, 0));
    };
    const Shrunk enough = shrink(0, 3 * smaller);
    CHECK(enough.smallest.problem == found);
    CHECK(enough.minimal());
    CHECK(enough.minimality.passed == smaller);
    CHECK(enough.minimality.of == smaller);
    CHECK(enough.runs == 3 * smaller + 1);
    const Shrunk too_few = shrink(0, 3 * smaller - 1);
    CHECK_FALSE(too_few.minimal());
    CHECK(too_few.runs == 1);
    // Those that have passed already count.
    CHECK(shrink(30, 3 * (smaller - 10)).minimal());
    CHECK(shrink(30, 3 * (smaller - 10) - 1).runs == 31);
}

TEST_CASE("the box is gone through again from what was found in it, four times at most") {
    // By turns found in the box of the one before, and by one step out of it: n down and k up.
    const std::vector<Problem> chain{
        parsed("n=60,k=60,in=1x1"), parsed("n=41,k=60,in=1x1"), parsed("n=40,k=61,in=1x1"),
        parsed("n=27,k=61,in=1x1"), parsed("n=26,k=62,in=1x1"), parsed("n=15,k=62,in=1x1"),
        parsed("n=14,k=63,in=1x1"), parsed("n=9,k=63,in=1x1"),  parsed("n=8,k=64,in=1x1")};
    const CaseRunner runner =
        failing_where([&](const Problem& p) { return std::ranges::find(chain, p) != chain.end(); });
    const ShrinkOptions options = budgets(0, 10'000, 0, 100'000);
    const Shrunk shrunk = shrink_from(chain.front(), runner, options);
    CHECK(shrunk.smallest.problem == chain[7]);
    CHECK(shrunk.minimality.kind == Minimality::Kind::none);
    const Shrunk later = shrink_from(chain[6], runner, options);
    CHECK(later.smallest.problem == chain[8]);
    CHECK(later.minimality.kind == Minimality::Kind::boxed);
}
