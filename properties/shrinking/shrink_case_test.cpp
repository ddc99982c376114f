// SPDX-License-Identifier: Apache-2.0
// Failures shrink to the smallest problem known for them. Predicates stand for kernels.
#include "properties/shrinking/shrink_case.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <set>

#include "properties/problems/generator.hpp"
#include "properties/problems/walk.hpp"
#include "properties/tests/shrinking.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

/// Coordinates of the image, or beside it, that the kernel reads on an axis.
std::set<std::int64_t> reads(const TestAxis& axis) {
    std::set<std::int64_t> coordinates;
    for (std::int64_t o = 0; o < axis.out(); ++o)
        for (std::int64_t f = 0; f < axis.filter; ++f)
            coordinates.insert(o * axis.stride + f * axis.dilation - axis.left);
    return coordinates;
}

bool swaps_bounds(const Problem& p) {
    const TestAxis h(p, 0), w(p, 1);
    const auto inside = [](std::int64_t i, std::int64_t size) { return i >= 0 && i < size; };
    const std::set<std::int64_t> columns = reads(w);
    for (const std::int64_t ih : reads(h))
        for (const std::int64_t iw : columns)
            if ((inside(ih, h.in) && inside(iw, w.in)) != (inside(ih, w.in) && inside(iw, h.in)))
                return true;
    return false;
}

/// Failing problems drawn from different seeds.
std::vector<Problem> failing_starts(const Fails& fails, std::size_t count) {
    const TestKernel& kernel = any_kernel();
    const ProblemGenerator generator(test_operator(), *kernel.kernel.pass, kernel.declaration,
                                     {.edge_problems = false});
    std::vector<Problem> starts;
    for (std::uint64_t seed = 0; starts.size() < count && seed < 20000; ++seed) {
        const Problem problem = *generator.draw(seed, 0);
        if (problem.distance() > 8 && fails(problem)) starts.push_back(problem);
    }
    REQUIRE(starts.size() == count);
    return starts;
}

/// The last column is forgotten, where it is one more than a tile and reads the image.
bool forgets_17th(const Problem& p) {
    const TestAxis w(p, 1);
    if (w.out() == 1 || w.out() % 16 != 1) return false;
    for (std::int64_t f = 0; f < w.filter; ++f) {
        const std::int64_t iw = (w.out() - 1) * w.stride + f * w.dilation - w.left;
        if (iw >= 0 && iw < w.in) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("each bug shrinks to the smallest problem known for it, from any start") {
    struct Planted {
        std::string name, smallest;
        Fails fails;
        std::vector<const char*> starts{};  ///< empty: drawn
    };
    const std::vector<Planted> bugs{
        {"A01", "in=1x2", swaps_bounds},
        {"A02", "in=1x2,dilation=1x2",
         on_some_axis([](const TestAxis& a) { return a.dilation > 1 && a.out() > 1; })},
        {"A03", "in=1x2,stride=1x2", on_some_axis([](const TestAxis& a) {
             return (a.padded() - a.reach()) % a.stride > a.right;
         })},
        {"A04", "c=2,k=2,groups=2,in=1x1", [](const Problem& p) { return p.scalar("groups") > 1; }},
        {"A05", "in=1x1,padding=1x0",
         [](const Problem& p) { return *reads(TestAxis(p, 0)).rbegin() >= TestAxis(p, 0).in; }},
        {"A06", "in=1x1", [](const Problem&) { return true; }},
        {"A07", "k=2,in=1x1", [](const Problem& p) { return p.scalar("k") > 1; }},
        {"a stride and an odd filter", "in=1x1,filter=1x3,stride=2x1,padding=0x1",
         [](const Problem& p) {
             const TestAxis w(p, 1);
             return TestAxis(p, 0).stride >= 2 && w.filter % 2 == 1 && w.filter > 1;
         }},
        {"an image in two groups", "c=2,k=2,groups=2,in=1x2",
         [](const Problem& p) {
             return TestAxis(p, 0).in * TestAxis(p, 1).in > 1 && p.scalar("groups") == 2;
         }},
        {"as many channels in as out", "c=3,k=3,in=1x1",
         [](const Problem& p) { return p.scalar("c") == p.scalar("k") && p.scalar("c") > 2; }},
        {"a count", "n=2,k=4,in=1x1",
         [](const Problem& p) { return p.scalar("n") * p.scalar("k") > 6; }},
        {"two ways to fail", "c=3,in=1x1,dilation=2x1",
         [](const Problem& p) {
             return p.scalar("n") >= 5 || (p.scalar("c") >= 3 && TestAxis(p, 0).dilation >= 2);
         }},
        {"padding or a larger image", "in=1x2,padding=0x1",
         [](const Problem& p) { return TestAxis(p, 1).padded() >= 4 && TestAxis(p, 1).out() > 1; }},
        {"many elements",
         "c=2,k=2,groups=2,in=6x7",
         [](const Problem& p) {
             return TestAxis(p, 0).in * TestAxis(p, 1).in > 40 && p.scalar("groups") == 2;
         },
         {"c=2,k=2,groups=2,in=1x41", "n=2,c=6,k=4,groups=2,in=43x1,padding=1",
          "c=2,k=2,groups=2,in=3x17,stride=2"}},
        {"every 16th output",
         "in=1x17",
         forgets_17th,
         {"in=1x49", "n=3,in=5x33,filter=2x1", "in=1x65,stride=1x2",
          "in=2x99,filter=1x3,stride=1x6", "in=1x13,filter=1x3,dilation=1x2,padding=0x4",
          "in=1x50,filter=1x4,stride=1x3,padding=0x1", "c=2,k=2,in=3x16,filter=1x2,padding=0x1"}},
        // No other pair with the sum 28 + 36 has a smaller n, and none of a smaller sum fails.
        {"a product",
         "n=28,k=36,in=1x1",
         [](const Problem& p) { return p.scalar("n") * p.scalar("k") >= 1000; },
         {"n=2,k=500,in=1x1", "n=1000,in=4x4,filter=3", "k=1024,in=1x2", "n=7,c=3,k=150,in=3x1",
          "n=100,k=100,in=1x1"}},
        {"several at once",
         "c=33,in=1x4,filter=1x3",
         [](const Problem& p) {
             const TestAxis w(p, 1);
             return w.filter > 2 && w.in == w.filter + 1 && p.scalar("c") >= 33 &&
                    p.scalar("groups") == 1;
         },
         {"n=3,c=70,k=4,in=5x9,filter=2x8,padding=1x0"}}};
    ShrinkOptions tree_alone = descent_only();
    tree_alone.certification.runs = 0;
    for (const Planted& bug : bugs) {
        const CaseRunner runner = failing_where(bug.fails);
        std::vector<Problem> starts;
        for (const char* start : bug.starts) starts.push_back(parsed(start));
        const bool is_drawn = starts.empty();
        if (is_drawn) starts = failing_starts(bug.fails, 12);
        for (const Problem& start : starts) {
            CAPTURE(bug.name);
            CAPTURE(start.print());
            const Shrunk shrunk = shrink_from(start, runner);
            CHECK(shrunk.smallest.problem.print() == bug.smallest);
            CHECK(shrunk.minimality.passed == shrunk.minimality.of);
            if (!is_drawn) continue;
            CHECK(shrunk.minimal());
            CHECK(shrunk.runs < 5000);
            if (bug.name[0] == 'A')
                CHECK(shrink_from(start, runner, tree_alone).smallest.problem.print() ==
                      bug.smallest);
        }
    }
}

TEST_CASE("the tree is descended for as long as there may be runs") {
    const SupportedProblems supported = any_kernel().supported();
    int runs = 0;
    const auto fails = [&](const Problem&) { return ++runs == 0; };
    const Problem problem = parsed("n=5,in=2x3");
    CHECK(walk(problem_tree(supported, problem), fails, [] { return false; }) == problem);
    CHECK(runs == 0);
    CHECK(walk(problem_tree(supported, problem), fails, [&] { return runs < 3; }) == problem);
    CHECK(runs == 3);
}

TEST_CASE("shrinking never ends at a case that errored or was skipped, nor calls it passed") {
    const auto runner = [](const Case& candidate) {
        const std::int64_t n = candidate.problem.scalar("n");
        if (n >= 3) return Outcome::failed("wrong");
        return n == 2 ? Outcome::errored("worker lost") : Outcome::skipped("no forward");
    };
    const Shrunk shrunk = shrink_from(parsed("n=9,c=2,in=2x3"), runner);
    CHECK(shrunk.smallest.problem.print() == "n=3,in=1x1");
    CHECK(shrunk.outcome.verdict == Verdict::failed);
    CHECK_FALSE(shrunk.minimal());
}

TEST_CASE("shrinking keeps the kind of failure") {
    // A wrong value from n = 5 on, and a hang for n = 2 and 3.
    const auto outcome = [](std::int64_t n) {
        if (n != 2 && n != 3) return failed_if(n >= 5);
        Outcome hang = Outcome::failed("no end");
        hang.discovery = Discovery::overstepped;
        return hang;
    };
    const auto runner = [&](const Case& candidate) {
        return outcome(candidate.problem.scalar("n"));
    };
    const Shrunk wrong = shrink_from(parsed("n=9,in=2x3"), runner);
    CHECK(wrong.smallest.problem.print() == "n=5,in=1x1");
    CHECK(wrong.outcome.message == "wrong");
    // Something smaller fails too, if otherwise.
    CHECK_FALSE(wrong.minimal());
    const Shrunk hang = shrink_case(
        any_kernel().kernel, case_on(any_kernel(), parsed("n=3,in=2x3")), outcome(3), runner);
    CHECK(hang.smallest.problem.print() == "n=2,in=1x1");
    CHECK(hang.minimal());
}

TEST_CASE("a call before that is not needed is left out first, or it was that call that failed") {
    Case found = case_on(any_kernel(), parsed("n=5,in=2x3"));
    found.setting.before = parsed("n=7,in=1x1");
    std::vector<Case> runs;
    const auto shrink = [&](const std::function<bool(const Case&)>& fails) {
        runs.clear();
        const auto runner = [&](const Case& candidate) {
            runs.push_back(candidate);
            return failed_if(fails(candidate));
        };
        return shrink_case(any_kernel().kernel, found, Outcome::failed("first"), runner).smallest;
    };
    const Case alone = shrink([](const Case& c) { return c.problem.scalar("n") >= 3; });
    CHECK(alone.problem == parsed("n=3,in=1x1"));
    CHECK_FALSE(alone.setting.before.has_value());
    CHECK(runs.front().problem == found.problem);
    CHECK_FALSE(runs[1].problem == *found.setting.before);
    for (const Case& run : runs) CHECK_FALSE(run.setting.before.has_value());

    const Case before = shrink([](const Case& c) { return c.problem.scalar("n") >= 6; });
    CHECK(runs[1].problem == *found.setting.before);
    CHECK(before.problem == parsed("n=6,in=1x1"));
    CHECK_FALSE(before.setting.before.has_value());

    const Case needed =
        shrink([](const Case& c) { return c.problem.scalar("n") >= 3 && c.setting.before; });
    CHECK(needed.problem == parsed("n=3,in=1x1"));
    CHECK(needed.setting.before == found.setting.before);
}
