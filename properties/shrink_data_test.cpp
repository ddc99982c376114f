// SPDX-License-Identifier: Apache-2.0
// That the data and the setting of a failure shrink to what matters, its problem unchanged.
#include "properties/shrink_data.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "properties/shrink_testing.hpp"

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
