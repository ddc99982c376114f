// SPDX-License-Identifier: Apache-2.0
// That failures shrink to the smallest problem known for them, whatever they start from. Kernels
// are stood for by predicates that say where they fail.
#include "properties/shrink.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "harness/random.hpp"
#include "properties/problem_generator.hpp"
#include "properties/shrink_testing.hpp"
#include "properties/smaller_problems.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

using Fails = std::function<bool(const Problem&)>;

struct SeededBug {
    std::string name;
    Fails fails;
    std::string smallest;
};

bool has_output(const Problem& p) {
    return p.scalar("n") > 0 && TestAxis(p, 0).out() > 0 && TestAxis(p, 1).out() > 0;
}

/// Coordinates of the image, or beside it, that the kernel reads on an axis: all below `limit`.
std::vector<std::int64_t> reads(const TestAxis& axis) {
    std::vector<std::int64_t> coordinates;
    for (std::int64_t o = 0; o < axis.out(); ++o)
        for (std::int64_t f = 0; f < axis.filter; ++f)
            coordinates.push_back(o * axis.stride + f * axis.dilation - axis.left);
    std::ranges::sort(coordinates);
    coordinates.erase(std::unique(coordinates.begin(), coordinates.end()), coordinates.end());
    return coordinates;
}

bool swapped_bounds(const Problem& p) {
    const TestAxis h(p, 0), w(p, 1);
    const auto inside = [](std::int64_t i, std::int64_t size) { return i >= 0 && i < size; };
    if (!has_output(p)) return false;
    const std::vector<std::int64_t> columns = reads(w);
    for (const std::int64_t ih : reads(h))
        for (const std::int64_t iw : columns)
            if ((inside(ih, h.in) && inside(iw, w.in)) != (inside(ih, w.in) && inside(iw, h.in)))
                return true;
    return false;
}

bool dilates_outputs(const Problem& p) {
    const auto shows = [](const TestAxis& a) { return a.dilation > 1 && a.out() > 1; };
    return has_output(p) && (shows(TestAxis(p, 0)) || shows(TestAxis(p, 1)));
}

bool leaves_remainder(const Problem& p) {
    const auto shows = [](const TestAxis& a) {
        return (a.padded() - a.reach()) % a.stride > a.right;
    };
    return has_output(p) && (shows(TestAxis(p, 0)) || shows(TestAxis(p, 1)));
}

bool reads_below_bottom(const Problem& p) {
    return has_output(p) && reads(TestAxis(p, 0)).back() >= TestAxis(p, 0).in;
}

const std::vector<SeededBug>& seeded_bugs() {
    static const std::vector<SeededBug> bugs{
        {"A01", swapped_bounds, "in=1x2"},
        {"A02", dilates_outputs, "in=1x2,dilation=1x2"},
        {"A03", leaves_remainder, "in=1x2,stride=1x2"},
        {"A04", [](const Problem& p) { return has_output(p) && p.scalar("groups") > 1; },
         "c=2,k=2,groups=2,in=1x1"},
        {"A05", reads_below_bottom, "in=1x1,padding=1x0"},
        {"A06", [](const Problem&) { return true; }, "in=1x1"},
        {"A07", [](const Problem& p) { return has_output(p) && p.scalar("k") > 1; }, "k=2,in=1x1"}};
    return bugs;
}

CaseRunner failing_where(const Fails& fails) {
    return [fails](const Case& candidate) {
        return fails(candidate.problem) ? Outcome::failed("wrong") : Outcome::passed();
    };
}

/// Failing problems drawn from different seeds.
std::vector<Problem> failing_starts(const TestKernel& kernel, const Fails& fails,
                                    std::size_t count) {
    const ProblemGenerator generator(test_operator(), *kernel.kernel.pass, kernel.declaration,
                                     {.edge_problems = false});
    std::vector<Problem> starts;
    for (std::uint64_t seed = 0; starts.size() < count && seed < 20000; ++seed) {
        const Problem problem = *generator.draw(seed, 0);
        if (problem.distance() > 8 && fails(problem)) starts.push_back(problem);
    }
    return starts;
}

}  // namespace

TEST_CASE("each seeded bug shrinks to the smallest problem known for it, from any start") {
    const TestKernel kernel(test_kernel());
    for (const SeededBug& bug : seeded_bugs()) {
        const std::vector<Problem> starts = failing_starts(kernel, bug.fails, 20);
        REQUIRE(starts.size() == 20);
        for (const Problem& start : starts) {
            CAPTURE(bug.name);
            CAPTURE(start.print());
            const Shrunk shrunk = shrink_from(kernel, start, failing_where(bug.fails));
            CHECK(shrunk.smallest.problem.print() == bug.smallest);
            CHECK(shrunk.minimal);
            CHECK(shrunk.runs < 3000);
        }
    }
}

TEST_CASE("the descent of the tree alone already finds the seeded bugs' smallest problems") {
    const TestKernel kernel(test_kernel());
    ShrinkOptions options = descent_only();
    options.certification.runs = 0;
    int found = 0, starts = 0;
    for (const SeededBug& bug : seeded_bugs())
        for (const Problem& start : failing_starts(kernel, bug.fails, 10)) {
            const Shrunk shrunk = shrink_from(kernel, start, failing_where(bug.fails), {}, options);
            found += shrunk.smallest.problem.print() == bug.smallest;
            ++starts;
            CHECK(bug.fails(shrunk.smallest.problem));
        }
    CHECK(starts == 70);
    CHECK(found == 70);
}

TEST_CASE("a bug that needs several large parameters at once is found by joint steps") {
    const TestKernel kernel(test_kernel());
    const auto fails = [](const Problem& p) {
        const TestAxis w(p, 1);
        return has_output(p) && w.filter > 2 && w.in == w.filter + 1 && p.scalar("c") >= 33 &&
               p.scalar("groups") == 1;
    };
    ShrinkOptions options;
    options.certification.runs = 200;
    const Shrunk shrunk = shrink_from(kernel, parsed("n=3,c=70,k=4,in=5x9,filter=2x8,padding=1x0"),
                                      failing_where(fails), {}, options);
    CHECK(shrunk.smallest.problem.print() == "c=33,in=1x4,filter=1x3");
    CHECK_FALSE(shrunk.minimal);
}

TEST_CASE("a smaller failing problem that no step leads to is found by running all before it") {
    const TestKernel kernel(test_kernel());
    const Problem island = parsed("n=2,k=2,in=1x1,stride=2x1");
    const Problem found = parsed("c=3,in=3x1,padding=0x1");
    const auto fails = [&](const Problem& p) { return p == island || p == found; };
    const Shrunk shrunk = shrink_from(kernel, found, failing_where(fails), {}, descent_only());
    CHECK(shrunk.smallest.problem == island);
    CHECK(shrunk.minimal);
}

TEST_CASE("a failure that nothing smaller shows is minimal as it stands") {
    const TestKernel kernel(test_kernel());
    const Problem found = parsed("c=2,in=2x1,stride=1x2");
    const Shrunk shrunk =
        shrink_from(kernel, found, failing_where([&](const Problem& p) { return p == found; }));
    CHECK(shrunk.smallest.problem == found);
    CHECK(shrunk.minimal);
    CHECK(shrunk.outcome.message == "first");
}

TEST_CASE("beyond the budget of runs or seconds nothing is called minimal") {
    const TestKernel kernel(test_kernel());
    const Problem found = parsed("c=4,in=4x4");
    const CaseRunner runner = failing_where([&](const Problem& p) { return p == found; });
    ShrinkOptions runs;
    runs.certification.runs = 300;
    const Shrunk few = shrink_from(kernel, found, runner, {}, runs);
    CHECK_FALSE(few.minimal);
    CHECK(few.runs < 300 + runs.descent.runs + runs.near.runs);
    ShrinkOptions seconds;
    seconds.certification.seconds = 0.0;
    CHECK_FALSE(shrink_from(kernel, found, runner, {}, seconds).minimal);
}

TEST_CASE("shrinking never ends at a case that errored or was skipped, nor calls it passed") {
    const TestKernel kernel(test_kernel());
    const auto runner = [](const Case& candidate) {
        const std::int64_t n = candidate.problem.scalar("n");
        if (n >= 3) return Outcome::failed("wrong");
        return n == 2 ? Outcome::errored("worker lost") : Outcome::skipped("no forward");
    };
    const Shrunk shrunk = shrink_from(kernel, parsed("n=9,c=2,in=2x3"), runner);
    CHECK(shrunk.smallest.problem.print() == "n=3,in=1x1");
    CHECK(shrunk.outcome.verdict == Verdict::failed);
    CHECK_FALSE(shrunk.minimal);
}

TEST_CASE("skipped and vacuous problems do not stand in the way of a minimum") {
    const TestKernel kernel(test_kernel());
    const auto runner = [](const Case& candidate) {
        if (candidate.problem.scalar("n") >= 3) return Outcome::failed("wrong");
        return candidate.problem.scalar("c") > 1 ? Outcome::skipped("no forward") : Outcome{};
    };
    CHECK(shrink_from(kernel, parsed("n=9,c=2,in=2x3"), runner).minimal);
}

TEST_CASE("a bug that one draw of data hides is found by another") {
    const TestKernel kernel(test_kernel());
    int draws_seen = 0;
    const auto runner = [&](const Case& candidate) {
        draws_seen |= candidate.setting.order == ThreadOrder::random_warps ? 2 : 1;
        const bool shows = candidate.setting.order == ThreadOrder::random_warps;
        return candidate.problem.scalar("n") >= 2 && shows ? Outcome::failed("race")
                                                           : Outcome::passed();
    };
    const Shrunk shrunk = shrink_from(kernel, parsed("n=9,in=2x3"), runner);
    CHECK(shrunk.smallest.problem.print() == "n=2,in=1x1");
    CHECK(shrunk.smallest.setting.order == ThreadOrder::random_warps);
    CHECK(draws_seen == 3);
    CHECK(shrunk.minimal);
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
    ShrinkOptions options;
    options.enumeration_steps = 1000;
    const CaseRunner runner = failing_where([](const Problem&) { return true; });
    const Shrunk shrunk = shrink_from(kernel, parsed("n=30,in=1x1"), runner, {}, options);
    CHECK(shrunk.smallest.problem.scalar("n") >= 20);
    CHECK_FALSE(shrunk.minimal);
}

TEST_CASE("candidates satisfy the kernel's constraints") {
    const TestKernel kernel(plain_kernel().where("c", multiple_of(4)));
    const SupportedProblems supported(test_operator(), *kernel.kernel.pass, kernel.declaration);
    const auto runner = [&](const Case& candidate) {
        CHECK(supported.contains(candidate.problem));
        const TestAxis w(candidate.problem, 1);
        return w.filter > 1 && w.in > 2 ? Outcome::failed("wrong") : Outcome::passed();
    };
    const Shrunk shrunk = shrink_from(kernel, parsed("n=2,c=12,k=5,in=7x9,filter=3x3"), runner);
    CHECK(shrunk.smallest.problem.print() == "c=4,in=2x3,filter=2x2");
    CHECK(shrunk.minimal);
}

TEST_CASE("smaller problems are smaller, supported, and each is offered once") {
    const TestKernel kernel(test_kernel());
    const SupportedProblems supported(test_operator(), *kernel.kernel.pass, kernel.declaration);
    const Problem problem = parsed("n=4,c=12,k=18,groups=6,in=9x8,filter=3x2,stride=2,padding=1x3");
    const std::vector<Problem> smaller = smaller_problems(supported, problem);
    CHECK(smaller.size() > 100);
    for (std::size_t i = 0; i < smaller.size(); ++i) {
        CHECK(smaller[i] < problem);
        CHECK(supported.contains(smaller[i]));
        for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(smaller[i] == smaller[j]);
    }
    const auto offers = [&](std::string_view text) {
        return std::ranges::find(smaller, parsed(text)) != smaller.end();
    };
    CHECK(offers("in=1x1"));
    CHECK(offers("n=4,c=4,k=6,groups=2,in=9x8,filter=3x2,stride=2,padding=1x3"));
    CHECK(offers("n=4,c=12,k=18,groups=6,in=8x8,filter=2x2,stride=2,padding=1x3"));
    CHECK(offers("in=9x1,filter=3x1"));
    CHECK(offers("c=6,k=6,groups=6,in=1x1"));
    CHECK(smaller_problems(supported, parsed("in=1x1")).empty());
}
