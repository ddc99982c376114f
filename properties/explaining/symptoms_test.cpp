// SPDX-License-Identifier: Apache-2.0
// What failing runs have in common, from the numbers that they gave.
#include <doctest/doctest.h>

#include <functional>

#include "harness/base/random.hpp"
#include "properties/explaining/explain.hpp"
#include "properties/tests/shrinking.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

/// What one element is, from all wanted ones and its place.
using Given = std::function<double(const std::vector<double>&, std::size_t)>;

/// A run in which an output of these sizes holds what was given, all of it or from `first` on.
FailingRun run_of(const Given& given, Sizes sizes, std::size_t first = 0, int draw = 0,
                  const char* problem = "in=1x1") {
    WrongMap map{.tensor = "dw", .sizes = std::move(sizes)};
    map.total = 1;
    for (const std::int64_t size : map.sizes) map.total *= size;
    SplitMix64 random(static_cast<std::uint64_t>(draw));
    for (std::int64_t i = 0; i < map.total; ++i)
        map.want.push_back(1.0 + static_cast<double>(random.below(1000)) / 512.0);
    map.got = map.want;
    map.marks.assign(map.got.size(), '.');
    for (std::size_t i = first; i < map.got.size(); ++i) {
        map.got[i] = given(map.want, i);
        if (map.got[i] == map.want[i]) continue;
        map.marks[i] = '#';
        ++map.wrong;
    }
    Outcome outcome = Outcome::failed("wrong");
    outcome.maps.push_back(std::move(map));
    return {case_on(any_kernel(), parsed(problem)), outcome};
}

std::string pattern_in(const Given& given, const Sizes& sizes = {3, 4}, std::size_t first = 0) {
    return symptoms_of(any_kernel().kernel, {run_of(given, sizes, first)}).pattern;
}

double times(const std::vector<double>& want, std::size_t i) { return 1.5 * want[i]; }

}  // namespace

TEST_CASE("a pattern is told that all wrong elements have, and where") {
    CHECK(pattern_in(times) == "got = 1.5 x want in all of dw");
    CHECK(pattern_in(times, {3, 4}, 2) == "got = 1.5 x want in all wrong elements of dw");
    CHECK(pattern_in([](const auto&, std::size_t) { return 0.0; }) == "got = 0 in all of dw");
    CHECK(pattern_in([](const auto& want, std::size_t i) { return -want[i]; }) ==
          "got = -want in all of dw");
    CHECK(pattern_in([](const auto& want, std::size_t i) { return want[i % 3 * 4 + i / 3]; }) ==
          "got = want transposed in all of dw");
    // Written as if the sizes were 3 x 2 x 2.
    CHECK(pattern_in([](const auto& want,
                        std::size_t i) { return want[i / 2 % 2 * 6 + i / 4 * 2 + i % 2]; },
                     {2, 3, 2}) == "got = want with axes 0 and 1 exchanged in all of dw");
    CHECK(pattern_in([](const auto& want, std::size_t i) {
              return i % 4 == 3 ? 7.0 : want[i + 1];
          }) == "got = want one further along axis 1, where there is one, in all of dw");
    CHECK(pattern_in([](const auto& want, std::size_t i) { return want[(i + 4) % 12]; }, {3, 4}) ==
          "got = want one further along axis 0, where there is one, in all of dw");
    CHECK(pattern_in([](const auto& want, std::size_t i) { return want[(i + 11) % 12]; }, {12}) ==
          "got = want one before along axis 0, where there is one, in all of dw");
}

TEST_CASE("nothing is told of few elements, or where one of them is otherwise") {
    CHECK(pattern_in(times, {5}).empty());
    CHECK(pattern_in(times, {6}) == "got = 1.5 x want in all of dw");
    CHECK(pattern_in([](const auto& want, std::size_t i) {
              return (i == 7 ? 1.5001 : 1.5) * want[i];
          }).empty());
    CHECK(pattern_in([](const auto& want, std::size_t i) { return want[i] + 1.0; }).empty());
}

TEST_CASE("a pattern that says what is wanted explains nothing") {
    // The transpose of columns, and errors next to rounding.
    const auto off = [](const auto& want, std::size_t i) { return want[i] * (1.0 + 0x1p-21); };
    CHECK(pattern_in(off, {12, 1}).empty());
    CHECK(pattern_in(off, {3, 2, 1, 1}).empty());
}

TEST_CASE("a factor may differ between problems, which is said; a single one is none of chance") {
    const auto at = [](const char* problem, double factor, const Sizes& sizes) {
        return run_of([=](const auto& want, std::size_t i) { return factor * want[i]; }, sizes, 0,
                      1, problem);
    };
    const auto told = [](std::vector<FailingRun> runs) {
        return symptoms_of(any_kernel().kernel, std::move(runs)).pattern;
    };
    CHECK(told({at("in=1x1", 2.0, {8}), at("in=1x2", 3.0, {9})}) ==
          "got = 3 x want in all of dw at in=1x2, and another factor at other problems");
    CHECK(told({at("in=1x1", 2.0, {8}), at("in=1x2", 2.0, {9})}) == "got = 2 x want in all of dw");
    const FailingRun other =
        run_of([](const auto&, std::size_t i) { return double(i); }, {9}, 0, 1, "in=1x2");
    CHECK(told({at("in=1x1", 2.0, {8}), other}).empty());
}

TEST_CASE("elements that are those of an input are told to be") {
    const TestKernel& kernel = any_kernel();
    const FailingRun run =
        run_of([](const auto&, std::size_t i) { return double(i); },
               kernel.kernel.op->sizes_of("x", parsed("in=3x3")), 0, 0, "in=3x3");
    const ListData list = [](const Case&) {
        std::vector<DataElement> elements;
        for (int i = 0; i < 9; ++i) elements.push_back({"x", i, double(i)});
        return elements;
    };
    CHECK(symptoms_of(kernel.kernel, {run}, list).pattern == "got = x in all of dw");
    CHECK(symptoms_of(kernel.kernel, {run}).pattern.empty());
}

TEST_CASE("how a kernel must be called is told where it passes otherwise") {
    const TestKernel& kernel = any_kernel();
    const auto only = [&](const std::function<bool(const Case&)>& fails) {
        Shrunk shrunk{.smallest = case_on(kernel, parsed("in=1x1")),
                      .outcome = Outcome::failed("wrong")};
        shrunk.smallest.setting.own_stream = true;
        shrunk.smallest.setting.layouts["dy"] = {.expanded = 0b1010};
        explain(kernel.kernel, shrunk, [&](const Case& one) { return failed_if(fails(one)); });
        return shrunk.symptoms.only;
    };
    CHECK(only([](const Case& one) { return one.setting.own_stream; }) == "on a stream of its own");
    CHECK(only([](const Case& one) {
              return one.setting.layout_of("dy").is_expanded(1) && one.setting.own_stream;
          }) == "on a stream of its own, and only with dy expanded along axes 1, 3");
    CHECK(only([](const Case& one) { return !one.data.is_dense || one.data.seed == 2; }).empty());
}
