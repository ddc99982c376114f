// SPDX-License-Identifier: Apache-2.0
// What shrinking claims of the problem that it ends at: that nothing smaller fails, in all or in
// its box, or nothing. Kernels are stood for by predicates that say where they fail.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "properties/enumerate.hpp"
#include "properties/shrink.hpp"
#include "properties/shrink_testing.hpp"

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
    ShrinkOptions runs;
    runs.problem.certification.runs = 300;
    const Shrunk few = shrink_from(kernel, found, runner, {}, runs);
    CHECK_FALSE(few.minimal());
    CHECK(few.runs <
          300 + runs.problem.descent.runs + runs.problem.near.runs + runs.problem.box.runs);
    ShrinkOptions seconds;
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
    const Shrunk shrunk = shrink_from(kernel, found, runner);
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
    ShrinkOptions options;
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
        return shrink_case(kernel.kernel, found, Outcome::failed("first"), runner);
    };
    const Shrunk data = shrink_where([](const Case& c) { return c.data.seed == 77; });
    CHECK(data.smallest.problem.print() == "n=3,in=1x1");
    CHECK(data.minimality.kind == Minimality::Kind::none);
    const Shrunk setting =
        shrink_where([](const Case& c) { return c.setting.order_seed == 5 && c.data.is_dense; });
    CHECK(setting.smallest.problem.print() == "n=3,in=1x1");
    CHECK(setting.minimality.kind == Minimality::Kind::none);
}
