// SPDX-License-Identifier: Apache-2.0
// The data and the setting of a failure shrink to the parts that matter, its problem unchanged.
#include "properties/shrinking/shrink_data.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "harness/base/text.hpp"
#include "properties/tests/shrinking.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

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

/// The first elements of a tensor, all of value 9.
Elements nines(std::int64_t count, const std::string& tensor = "x") {
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

TEST_CASE("listings of up to 4096 elements are reduced, and kept if 32 are left or fewer") {
    const auto never = [](const Elements&) { return false; };
    CHECK(Trace("in=64x64", nines(4096), never).counted > 1);
    CHECK(Trace("in=1x4097", nines(4097), never).counted == 1);
    for (const std::size_t needed : {32u, 33u}) {
        const Trace trace("in=1x40", nines(40),
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
