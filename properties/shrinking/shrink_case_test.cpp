// SPDX-License-Identifier: Apache-2.0
// Failures shrink to the smallest problem known for them, then their data and setting to the parts
// that matter. Predicates stand for kernels.
#include "properties/shrinking/shrink_case.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "harness/base/text.hpp"
#include "properties/problems/generator.hpp"
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

using Elements = std::vector<DataElement>;

double value_at(const Elements& data, std::string_view tensor, std::int64_t index) {
    for (const DataElement& element : data)
        if (element.tensor == tensor && element.index == index) return element.value;
    return 0.0;
}

/// `x2=1 dy3=-1`
std::string text_of(const Elements& elements) {
    std::string text;
    for (const DataElement& e : elements)
        text += (text.empty() ? "" : " ") + e.tensor + std::to_string(e.index) + "=" +
                print_exactly(e.value);
    return text;
}

/// Shrinks listed data of a problem, and notes the data that is run, in order.
struct Trace {
    std::vector<std::string> runs;
    Case smallest;
    std::int64_t counted = 0;

    Trace(std::string_view problem, const Elements& listed,
          const std::function<bool(const Elements&)>& fails, std::int64_t budget = 100'000)
        : smallest(case_on(any_kernel(), parsed(problem))) {
        const CaseRunner runner = [&](const Case& candidate) {
            runs.push_back(text_of(candidate.data.elements));
            return failed_if(fails(candidate.data.elements));
        };
        ShrinkTrials trials(smallest, Outcome::failed("first"), runner);
        trials.start({.runs = budget, .seconds = 100.0});
        shrink_data(trials, test_operator(), listed);
        smallest = trials.smallest();
        counted = trials.runs();
    }
    bool has_run(const std::string& text) const { return std::ranges::count(runs, text) > 0; }
};

Elements nines(std::int64_t count, const std::string& tensor = "x") {
    Elements elements;
    for (std::int64_t i = 0; i < count; ++i) elements.push_back({tensor, i, 9.0});
    return elements;
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

TEST_CASE("zeros come first, then one element, one of each of two, then chunks, then values") {
    const auto needs = [](const Elements& data) {
        return value_at(data, "x", 0) > 2.0 && value_at(data, "dy", 1) != 0.0 &&
               value_at(data, "dy", 0) == 1.0;
    };
    const Trace trace("in=1x2", {{"x", 0, 7.0}, {"x", 1, 8.0}, {"dy", 0, 1.0}, {"dy", 1, -1.0}},
                      needs);
    std::vector<std::string> expected{""};
    for (const std::string value : {"=1", "=-1", "=2"}) {
        for (const std::string one : {"x0", "x1", "dy0", "dy1"}) expected.push_back(one + value);
        for (const std::string x : {"x0", "x1"})
            for (const std::string dy : {"dy0", "dy1"})
                expected.push_back(x + value + " " + dy + value);
    }
    const std::vector<std::string> reducing{"x0=7 x1=8 dy0=1 dy1=-1",  // as listed
                                            "dy0=1 dy1=-1",
                                            "x0=7 x1=8",  // two removed
                                            "x1=8 dy0=1 dy1=-1",
                                            "x0=7 dy0=1 dy1=-1",
                                            "x0=7 dy1=-1",
                                            "x0=7 dy0=1",  // one removed
                                            "x0=1 dy0=1 dy1=-1",
                                            "x0=-1 dy0=1 dy1=-1",
                                            "x0=2 dy0=1 dy1=-1",
                                            "x0=7 dy0=1 dy1=1"};
    expected.insert(expected.end(), reducing.begin(), reducing.end());
    CHECK(trace.runs == expected);
    CHECK(trace.counted == static_cast<std::int64_t>(expected.size()));
    CHECK(trace.smallest.data.is_explicit);
    CHECK(text_of(trace.smallest.data.elements) == "x0=7 dy0=1 dy1=1");
}

TEST_CASE("data shrinks to the elements that matter, of small values") {
    using Fails = std::function<bool(const Elements&)>;
    const auto at = [](const char* tensor, std::int64_t index, double value) {
        return [=](const Elements& data) { return value_at(data, tensor, index) == value; };
    };
    struct Line {
        const char* problem;
        Elements listed;
        std::string smallest;
        Fails fails;
    };
    Elements both = nines(20);
    std::ranges::copy(nines(20, "dy"), std::back_inserter(both));
    const Elements fives{{"x", 2, 5.0}, {"x", 1, 5.0}};
    const std::vector<Line> lines{
        {"in=1x2", nines(4), "", [](const Elements&) { return true; }},
        {"in=4x5", both, "x2=1", [](const Elements& data) { return value_at(data, "x", 2) > 0.0; }},
        {"in=4x5", both, "x1=1 dy3=1",
         [](const Elements& data) {
             return value_at(data, "x", 1) * value_at(data, "dy", 3) != 0;
         }},
        {"in=4x5", both, "x0=-1", at("x", 0, -1.0)},
        {"in=4x5", both, "x0=2", at("x", 0, 2.0)},
        // Where several elements of a tensor are needed, the others are removed.
        {"in=4x5", both, "x3=1 x17=1 dy5=9",
         [](const Elements& data) {
             return value_at(data, "x", 3) != 0.0 && value_at(data, "x", 17) != 0.0 &&
                    value_at(data, "dy", 5) > 8.0;
         }},
        // The last chunk of an odd number of elements is a shorter one.
        {"in=1x5", nines(5), "x3=1 x4=1",
         [](const Elements& data) { return data.size() > 1 && data.back().index == 4; }},
        // A tensor is as long as the operator says.
        {"in=2x4", fives, "x7=1", at("x", 7, 1.0)}};
    for (const Line& line : lines) {
        const Data smallest = Trace(line.problem, line.listed, line.fails).smallest.data;
        CHECK(smallest.is_explicit);
        CHECK(text_of(smallest.elements) == line.smallest);
    }
    CHECK_FALSE(Trace("in=1x2", nines(2), at("x", 2, 1.0)).has_run("x2=1"));
}

TEST_CASE("a case's data are listed before they are shrunk") {
    const CaseRunner runner = [](const Case& candidate) {
        const Data& data = candidate.data;
        return failed_if(!data.is_explicit || value_at(data.elements, "x", 2) > 0.0);
    };
    ShrinkOptions options = descent_only();
    options.descent.runs = options.certification.runs = 0;
    options.box.runs = 0;
    const auto list_data = [](const Case&) { return nines(4); };
    const Shrunk shrunk = shrink_case(any_kernel().kernel, case_on(any_kernel(), parsed("in=1x4")),
                                      Outcome::failed("first"), runner, list_data, options);
    CHECK(shrunk.smallest.data.elements == Elements{{"x", 2, 1.0}});
}

TEST_CASE("listings of up to 16384 elements are reduced, and kept if 32 are left or fewer") {
    const auto never = [](const Elements&) { return false; };
    CHECK(Trace("in=128x128", nines(16384), never).counted > 1);
    CHECK(Trace("in=1x16385", nines(16385), never).counted == 1);
    for (const std::size_t needed : {32u, 33u}) {
        const Trace trace("in=1x40", nines(40),
                          [&](const Elements& data) { return data.size() >= needed; });
        CHECK(trace.smallest.data.is_explicit == (needed == 32));
        CHECK(trace.counted == static_cast<std::int64_t>(trace.runs.size()));
        // What is not kept is not simplified either.
        CHECK((trace.runs.back().find("=1") != std::string::npos) == (needed == 32));
    }
}

TEST_CASE("single elements of large tensors leave runs to reduce the listing") {
    Elements both = nines(256);
    std::ranges::copy(nines(256, "dy"), std::back_inserter(both));
    const auto needs_two = [](const Elements& data) {
        return value_at(data, "x", 3) != 0.0 && value_at(data, "x", 200) != 0.0;
    };
    const Trace trace("in=1x256", both, needs_two, ShrinkOptions{}.data.runs);
    CHECK(text_of(trace.smallest.data.elements) == "x3=1 x200=1");
}

TEST_CASE("data is shrunk within its budget of runs") {
    for (const std::int64_t budget : {0, 1, 7, 40}) {
        const Trace trace(
            "in=1x30", nines(30), [](const Elements& data) { return data.size() >= 20; }, budget);
        CHECK(trace.counted == budget);
        CHECK_FALSE(trace.smallest.data.is_explicit);
    }
}

TEST_CASE("each field of a setting that does not matter is set back") {
    Case found = case_on(any_kernel(), parsed("in=1x1"));
    found.setting = {.order = ThreadOrder::random_warps,
                     .order_seed = 9,
                     .offsets = {3, 0, 1},
                     .block_size = 64,
                     .own_stream = true,
                     .place = 1,
                     .output_mask = 1,
                     .before = parsed("in=1x2")};
    std::int64_t runs = 0;
    const auto shrink = [&](const std::function<bool(const Setting&)>& fails) {
        runs = 0;
        const CaseRunner runner = [&](const Case& candidate) {
            ++runs;
            return failed_if(fails(candidate.setting));
        };
        ShrinkTrials trials(found, Outcome::failed("first"), runner);
        shrink_setting(trials);
        CHECK(trials.runs() == runs);
        return trials.smallest().setting;
    };
    CHECK(shrink([](const Setting&) { return true; }) == Setting{});
    CHECK(runs == 1);
    CHECK(shrink([](const Setting&) { return false; }) == found.setting);
    // All, two orders, no offset, of three offsets 0 and 1 where they are others, five more fields.
    CHECK(runs == 1 + 2 + 1 + 2 + 0 + 1 + 5);
    const auto only = [&](auto matters) {
        return shrink([&](const Setting& s) { return matters(s) == matters(found.setting); });
    };
    CHECK(only([](const Setting& s) { return s.before; }) == Setting{.before = parsed("in=1x2")});
    CHECK(only([](const Setting& s) { return s.place; }) == Setting{.place = 1});
    found.setting.place = 3;
    CHECK(only([](const Setting& s) { return s.place > 0; }) == Setting{.place = 1});
    CHECK(only([](const Setting& s) { return s.place; }) == Setting{.place = 3});
    CHECK(only([](const Setting& s) { return s.own_stream; }) == Setting{.own_stream = true});
    CHECK(only([](const Setting& s) { return s.output_mask; }) == Setting{.output_mask = 1});
    CHECK(only([](const Setting& s) { return s.block_size; }) == Setting{.block_size = 64});
    CHECK(only([](const Setting& s) { return s.order_seed; }) ==
          Setting{.order = ThreadOrder::random_warps, .order_seed = 9});
    CHECK(only([](const Setting& s) { return s.order != ThreadOrder::ascending; }) ==
          Setting{.order = ThreadOrder::descending});
    CHECK(only([](const Setting& s) { return !s.offsets.empty() && s.offsets[0] > 0; }) ==
          Setting{.offsets = {1, 0, 0}});
    CHECK(only([](const Setting& s) { return s.offsets.size() == 3 && s.offsets[2] == 1; }) ==
          Setting{.offsets = {0, 0, 1}});

    found.setting = {.layouts = {{"x", {"turned", 3}}, {"dy", {"turned", 4, 3}}}};
    CHECK(shrink([](const Setting&) { return false; }) == found.setting);
    CHECK(only([](const Setting& s) { return s.layout_of("x").order; }) ==
          Setting{.layouts = {{"x", {"turned"}}}});
    CHECK(only([](const Setting& s) { return s.layout_of("x").row_padding > 0; }) ==
          Setting{.layouts = {{"x", {"", 1}}}});
    CHECK(only([](const Setting& s) { return s.layout_of("dy").expanded; }) ==
          Setting{.layouts = {{"dy", {"", 0, 3}}}});
    CHECK(only([](const Setting& s) {
              return s.layout_of("dy").row_padding == 4 && s.layout_of("x").order == "turned";
          }) == Setting{.layouts = {{"x", {"turned"}}, {"dy", {"", 4}}}});
}

TEST_CASE("where data decide, smaller problems are run with further draws, and how many is told") {
    // At one sample only a later draw fails, and the found case's data at none.
    ShrinkOptions options = patient();
    options.again.runs = 300;
    const auto shrunk_where = [&](std::uint64_t seed_at_one) {
        return shrink_from(
            parsed("n=4,in=1x1"),
            [=](const Case& one) {
                const std::uint64_t seed = one.data.seed;
                return failed_if(
                    one.data.is_dense &&
                    (one.problem.scalar("n") == 1 ? seed == seed_at_one : seed % 2 == 1));
            },
            options);
    };
    const Shrunk further = shrunk_where(5), none = shrunk_where(99);
    CHECK(further.smallest.problem == parsed("in=1x1"));
    CHECK(none.smallest.problem == parsed("n=2,in=1x1"));
    CHECK(none.minimal());
    CHECK(none.minimality.draws == 3 + 1 + 3);
    const Shrunk plain =
        shrink_from(parsed("n=4,in=1x1"),
                    failing_where([](const Problem& p) { return p.scalar("n") >= 2; }), options);
    CHECK(plain.minimality.draws == 3 + 1);
}
