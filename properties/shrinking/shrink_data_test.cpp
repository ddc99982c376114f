// SPDX-License-Identifier: Apache-2.0
// That the data and the setting of a failure shrink to what matters, its problem unchanged.
#include "properties/shrinking/shrink_data.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "properties/tests/shrinking.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

/// Values 1, 2, 3, ... in every element of dy and x, as a dense draw has them; explicit data as it
/// is.
std::vector<DataElement> list_all(const Case& listed) {
    if (listed.data.is_explicit) return listed.data.elements;
    std::vector<DataElement> all;
    for (const char* tensor : {"x", "dy"})
        for (std::int64_t i = 0;
             i < element_count(test_operator().sizes_of(tensor, listed.problem)); ++i)
            all.push_back({tensor, i, static_cast<double>(all.size() + 3)});
    return all;
}

/// A runner that fails on data, whatever the problem.
CaseRunner failing_on(const std::function<bool(const std::vector<DataElement>&)>& fails) {
    return [fails](const Case& candidate) {
        return fails(list_all(candidate)) ? Outcome::failed("wrong") : Outcome::passed();
    };
}

/// Options that leave the problem as it is.
ShrinkOptions data_only() {
    ShrinkOptions options = descent_only();
    options.problem.descent.runs = options.problem.certification.runs = 0;
    options.problem.box.runs = 0;
    return options;
}

double value_at(const std::vector<DataElement>& data, std::string_view tensor, std::int64_t index) {
    for (const DataElement& element : data)
        if (element.tensor == tensor && element.index == index) return element.value;
    return 0.0;
}

Shrunk shrink_data_where(const std::function<bool(const std::vector<DataElement>&)>& fails,
                         std::string_view problem) {
    const TestKernel kernel(test_kernel());
    return shrink_from(kernel, parsed(problem), failing_on(fails), {.list_data = list_all},
                       data_only());
}

using Elements = std::vector<DataElement>;

}  // namespace

TEST_CASE("data shrinks to one element of each tensor that matters, of value one") {
    const Shrunk one = shrink_data_where(
        [](const Elements& data) { return value_at(data, "x", 2) > 0.0; }, "in=1x4");
    CHECK(one.smallest.data.is_explicit);
    CHECK(one.smallest.data.elements == Elements{{"x", 2, 1.0}});
    const Shrunk two = shrink_data_where(
        [](const Elements& data) {
            return value_at(data, "x", 1) * value_at(data, "dy", 3) != 0.0;
        },
        "in=1x4");
    CHECK(two.smallest.data.elements == Elements{{"x", 1, 1.0}, {"dy", 3, 1.0}});
}

TEST_CASE("data that fails on zeros alone shrinks to zeros") {
    const Shrunk shrunk = shrink_data_where([](const Elements&) { return true; }, "in=1x4");
    CHECK(shrunk.smallest.data.is_explicit);
    CHECK(shrunk.smallest.data.elements.empty());
}

TEST_CASE("where one does not fail, minus one does, or two") {
    const Shrunk negative = shrink_data_where(
        [](const Elements& data) {
            return !data.empty() && (data.size() > 1 || data.front().value < 0.0);
        },
        "in=1x1");
    CHECK(negative.smallest.data.elements == Elements{{"x", 0, 1.0}, {"dy", 0, 1.0}});
    const Shrunk only_negative = shrink_data_where(
        [](const Elements& data) { return value_at(data, "x", 0) == -1.0; }, "in=1x1");
    CHECK(only_negative.smallest.data.elements == Elements{{"x", 0, -1.0}});
    const Shrunk doubled = shrink_data_where(
        [](const Elements& data) { return value_at(data, "x", 0) >= 2.0; }, "in=1x1");
    CHECK(doubled.smallest.data.elements == Elements{{"x", 0, 2.0}});
}

TEST_CASE("where several elements of a tensor are needed, the others are removed") {
    const Shrunk shrunk = shrink_data_where(
        [](const Elements& data) {
            return value_at(data, "x", 3) != 0.0 && value_at(data, "x", 17) != 0.0 &&
                   value_at(data, "dy", 5) > 20.0;
        },
        "in=4x5");
    CHECK(shrunk.smallest.data.elements ==
          Elements{{"x", 3, 1.0}, {"x", 17, 1.0}, {"dy", 5, 28.0}});
}

TEST_CASE("data that fails only as it was drawn keeps its seed") {
    const TestKernel kernel(test_kernel());
    const auto runner = [](const Case& candidate) {
        return candidate.data.is_explicit ? Outcome::passed() : Outcome::failed("wrong");
    };
    const Shrunk shrunk =
        shrink_from(kernel, parsed("in=1x4"), runner, {.list_data = list_all}, data_only());
    CHECK_FALSE(shrunk.smallest.data.is_explicit);
    CHECK(shrunk.smallest.data.seed == 1);
    std::int64_t runs = 0;
    const Shrunk many = shrink_data_where(
        [&](const Elements& data) {
            ++runs;
            return data.size() >= 40;
        },
        "in=5x5");
    CHECK_FALSE(many.smallest.data.is_explicit);
    CHECK(many.outcome.verdict == Verdict::failed);
    CHECK(many.runs == runs);
}

TEST_CASE("the setting shrinks to the fields that matter") {
    const TestKernel kernel(test_kernel());
    Case found = case_on(kernel, parsed("in=1x1"));
    found.setting = {.order = ThreadOrder::random_threads,
                     .order_seed = 9,
                     .offsets = {3, 2, 1},
                     .block_size = 64,
                     .own_stream = true};
    const auto shrink = [&](const std::function<bool(const Setting&)>& fails) {
        const CaseRunner runner = [&](const Case& candidate) {
            return fails(candidate.setting) ? Outcome::failed("wrong") : Outcome::passed();
        };
        return shrink_case(kernel.kernel, found, Outcome::failed("first"), runner, {}, data_only())
            .smallest.setting;
    };
    CHECK(shrink([](const Setting&) { return true; }) == Setting{});
    CHECK(shrink([](const Setting& s) { return s.own_stream; }) == Setting{.own_stream = true});
    CHECK(shrink([](const Setting& s) { return s.block_size == 64; }) == Setting{.block_size = 64});
    CHECK(shrink([](const Setting& s) { return s.order != ThreadOrder::ascending; }) ==
          Setting{.order = ThreadOrder::descending});
    CHECK(shrink([](const Setting& s) { return s.order_seed == 9; }) ==
          Setting{.order = ThreadOrder::random_threads, .order_seed = 9});
    CHECK(shrink([](const Setting& s) { return s.offsets.size() == 3 && s.offsets[1] > 0; }) ==
          Setting{.offsets = {0, 1, 0}});
}

namespace {

/// Shrinks listed data of a problem, and notes the data that is run, in order.
struct Trace {
    TestKernel kernel{test_kernel()};
    std::vector<std::string> runs;
    Case smallest;
    std::int64_t counted = 0;

    Trace(std::string_view problem, const Elements& listed,
          const std::function<bool(const Elements&)>& fails, std::int64_t budget = 100'000)
        : smallest(case_on(kernel, parsed(problem))) {
        const CaseRunner runner = [&](const Case& candidate) {
            const Elements& elements = candidate.data.elements;
            std::string text;
            for (const DataElement& e : elements)
                text += (text.empty() ? "" : " ") + e.tensor + std::to_string(e.index) + "=" +
                        std::to_string(static_cast<int>(e.value));
            runs.push_back(text);
            return fails(elements) ? Outcome::failed("wrong") : Outcome::passed();
        };
        ShrinkTrials trials(smallest, Outcome::failed("first"), runner);
        trials.start({.runs = budget, .seconds = 100.0});
        shrink_data(trials, test_operator(), listed);
        smallest = trials.smallest();
        counted = trials.runs();
    }
    bool has_run(const std::string& text) const { return std::ranges::count(runs, text) > 0; }
};

/// So many elements of a tensor that is no tensor of the operator, all of value 9.
Elements nines(std::int64_t count, const std::string& tensor = "v") {
    Elements elements;
    for (std::int64_t i = 0; i < count; ++i) elements.push_back({tensor, i, 9.0});
    return elements;
}

}  // namespace

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
    CHECK(trace.smallest.data ==
          Data{.is_explicit = true, .elements = {{"x", 0, 7.0}, {"dy", 0, 1.0}, {"dy", 1, 1.0}}});
}

TEST_CASE("data that fails on zeros, or on one element, is not looked at any further") {
    CHECK(Trace("in=1x2", nines(4, "x"), [](const Elements&) { return true; }).runs ==
          std::vector<std::string>{""});
    const Trace one("in=1x2", nines(2, "x"),
                    [](const Elements& data) { return value_at(data, "x", 0) > 0.0; });
    CHECK(one.runs == std::vector<std::string>{"", "x0=1"});
}

TEST_CASE("the last chunk of an odd number of elements is a shorter one") {
    const Trace trace("in=1x5", nines(5, "x"), [](const Elements& data) {
        return data.size() > 1 && data.back().index == 4;
    });
    CHECK(trace.has_run("x2=9 x3=9"));
    CHECK(trace.smallest.data.elements == Elements{{"x", 3, 1.0}, {"x", 4, 1.0}});
}

TEST_CASE("a tensor is as long as the operator says, and data of another name as it is listed") {
    const auto at = [](const std::string& tensor, std::int64_t index) {
        return [=](const Elements& data) { return value_at(data, tensor, index) == 1.0; };
    };
    // Of the eight elements of x two are listed, and the last one is wanted.
    const Trace whole("in=2x4", {{"x", 2, 5.0}, {"x", 1, 5.0}}, at("x", 7));
    CHECK(whole.smallest.data.elements == Elements{{"x", 7, 1.0}});
    const Trace other("in=1x1", {{"v", 2, 5.0}, {"v", 4, 5.0}, {"v", 3, 5.0}}, at("v", 4));
    CHECK(other.smallest.data.elements == Elements{{"v", 4, 1.0}});
    CHECK_FALSE(other.has_run("v5=1"));
    const Trace one("in=1x1", {{"v", 2, 5.0}}, at("v", 3));
    CHECK(one.has_run("v2=1"));
    CHECK_FALSE(one.has_run("v3=1"));
}

TEST_CASE("at most 300 choices of elements are tried, of at most three tensors") {
    const auto never = [](const Elements&) { return false; };
    CHECK(Trace("in=1x1", nines(300), never).has_run("v299=1"));
    CHECK_FALSE(Trace("in=1x1", nines(301), never).has_run("v0=1"));
    Elements four = nines(2, "t");
    for (const char* tensor : {"u", "v", "w"}) four.push_back({tensor, 0, 9.0});
    const Trace trace("in=1x1", four, never);
    CHECK(trace.has_run("t0=1 u0=1 w0=1"));
    CHECK(trace.has_run("u0=2 v0=2 w0=2"));
    CHECK_FALSE(trace.has_run("t0=1 u0=1 v0=1 w0=1"));
}

TEST_CASE("listings of up to 4096 elements are reduced, and kept if 32 are left or fewer") {
    std::size_t largest = 0;
    const auto longest_of = [&](std::int64_t count) {
        largest = 0;
        const Trace trace("in=1x1", nines(count), [&](const Elements& data) {
            largest = std::max(largest, data.size());
            return false;
        });
        CHECK(trace.counted == static_cast<std::int64_t>(trace.runs.size()));
        CHECK_FALSE(trace.smallest.data.is_explicit);
        return largest;
    };
    CHECK(longest_of(4096) == 4096);
    CHECK(longest_of(4097) == 0);
    for (const std::size_t needed : {32u, 33u}) {
        const Trace trace("in=1x1", nines(40),
                          [&](const Elements& data) { return data.size() >= needed; });
        CHECK(trace.smallest.data.is_explicit == (needed == 32));
        CHECK(trace.counted == static_cast<std::int64_t>(trace.runs.size()));
        // What is not kept is not simplified either.
        CHECK((trace.runs.back().find("=1") != std::string::npos) == (needed == 32));
    }
}

TEST_CASE("data is shrunk within its budget of runs") {
    for (const std::int64_t budget : {0, 1, 7, 40}) {
        const Trace trace(
            "in=1x1", nines(30), [](const Elements& data) { return data.size() >= 20; }, budget);
        CHECK(trace.counted == budget);
        CHECK_FALSE(trace.smallest.data.is_explicit);
    }
}

TEST_CASE("each field of a setting that does not matter is set back") {
    const TestKernel kernel(test_kernel());
    Case found = case_on(kernel, parsed("in=1x1"));
    found.setting = {.order = ThreadOrder::random_warps,
                     .order_seed = 9,
                     .offsets = {3, 0, 1},
                     .block_size = 64,
                     .own_stream = true,
                     .place = 1,
                     .output_mask = 1,
                     .before = parsed("in=1x2")};
    std::vector<Setting> runs;
    const auto shrink = [&](const std::function<bool(const Setting&)>& fails) {
        runs.clear();
        const CaseRunner runner = [&](const Case& candidate) {
            runs.push_back(candidate.setting);
            return fails(candidate.setting) ? Outcome::failed("wrong") : Outcome::passed();
        };
        ShrinkTrials trials(found, Outcome::failed("first"), runner);
        shrink_setting(trials);
        CHECK(trials.runs() == static_cast<std::int64_t>(runs.size()));
        return trials.smallest().setting;
    };
    CHECK(shrink([](const Setting&) { return true; }) == Setting{});
    CHECK(runs.size() == 1);
    CHECK(shrink([](const Setting&) { return false; }) == found.setting);
    // All, two orders, no offset, of three offsets 0 and 1 where they are others, five more fields.
    CHECK(runs.size() == 1 + 2 + 1 + 2 + 0 + 1 + 5);
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
}
