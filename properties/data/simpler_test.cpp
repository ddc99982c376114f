// SPDX-License-Identifier: Apache-2.0
// Which simpler data and settings are offered; that a failure ends at the simplest one is tested
// beside shrinking.
#include "properties/data/simpler.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <string>

#include "properties/tests/test_operator.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

using Elements = std::vector<DataElement>;

bool is_tried(const char* problem, const Elements& listed, const Elements& wanted) {
    const Operator& op = test_operator();
    auto all = one_hot_data(op, Problem::parse(op.space, problem), listed);
    for (auto one = all.next(); one; one = all.next())
        if (one->value() == Data{.is_explicit = true, .elements = wanted}) return true;
    return false;
}

}  // namespace

TEST_CASE("one element of each of up to three tensors is tried, while there are 300 choices") {
    const Elements four{{"x", 0, 5.0}, {"w", 0, 5.0}, {"dy", 0, 5.0}, {"b", 0, 5.0}};
    const Elements two{{"x", 1, 5.0}, {"x", 0, 5.0}, {"b", 0, 5.0}};
    struct Line {
        const char* problem;
        Elements listed, wanted;
        bool is_tried;
    };
    for (const Line& line :
         {Line{"in=1x1", four, {}, true},
          {"in=1x1", four, {{"x", 0, 2.0}, {"w", 0, 2.0}, {"dy", 0, 2.0}}, true},
          {"in=1x1", four, {{"x", 0, 2.0}, {"w", 0, 2.0}, {"dy", 0, 2.0}, {"b", 0, 2.0}}, false},
          {"n=20,k=15,in=1x1", two, {{"x", 19, 1.0}}, true},
          {"n=20,k=15,in=1x1", two, {{"x", 20, 1.0}}, false},
          {"n=20,k=15,in=1x1", two, {{"x", 19, 1.0}, {"b", 14, 1.0}}, true},
          {"n=20,k=16,in=1x1", two, {{"x", 19, 1.0}, {"b", 14, 1.0}}, false},
          {"n=300,k=301,in=1x1", two, {{"x", 299, 1.0}}, true},
          {"n=300,k=301,in=1x1", two, {{"b", 299, 1.0}}, false}}) {
        CAPTURE(line.problem);
        CAPTURE(line.wanted.size());
        CHECK(is_tried(line.problem, line.listed, line.wanted) == line.is_tried);
    }
}

TEST_CASE(
    "elements are carried to their place, or the nearest free one, with their indices in range") {
    Operator op = make_test_operator(1, 2);
    op.inputs[2].dtype = DType::i32;
    op.inputs[2].domain = [](const Problem& problem) {
        return ValueDomain{0.0, static_cast<double>(problem.scalar("c") - 1)};
    };
    const auto carried = [&](const char* from, const char* to, const Elements& elements) {
        const auto data = carried_data(op, Problem::parse(op.space, from),
                                       Problem::parse(op.space, to), elements);
        return data ? data->elements : Elements{};
    };
    // x[1][0][2] of two images of 1x3.
    CHECK(carried("n=2,in=1x3", "n=2,in=1x4", {{"x", 5, 1.0}}) == Elements{{"x", 6, 1.0}});
    CHECK(carried("n=2,in=1x3", "n=3,in=1x2", {{"x", 5, 1.0}}) == Elements{{"x", 3, 1.0}});
    CHECK(carried("n=2,in=1x3", "in=1x2", {{"x", 5, 1.0}, {"x", 2, 7.0}, {"x", 1, 8.0}}) ==
          Elements{{"x", 1, 1.0}, {"x", 0, 7.0}});
    CHECK(carried("n=2,in=1x2", "in=1x2", {{"x", 0, 1.0}, {"x", 2, 7.0}}) ==
          Elements{{"x", 0, 1.0}, {"x", 1, 7.0}});
    // With fewer axes it is the same place in memory, or the last.
    CHECK(carried("in=1x3", "in=4", {{"x", 1, 1.0}}) == Elements{{"x", 1, 1.0}});
    CHECK(carried("in=1x3", "in=2", {{"x", 2, 1.0}}) == Elements{{"x", 1, 1.0}});
    // A cotangent does not lie in its output's domain.
    op.outputs[0].domain = [](const Problem&) { return ValueDomain{0.0, 9.0}; };
    CHECK(carried("in=1x1", "in=1x1", {{"dy", 0, -1.0}}) == Elements{{"dy", 0, -1.0}});
    const std::string& indices = op.inputs[2].name;
    CHECK(carried("c=9,k=2,in=1x1", "c=4,in=1x1", {{indices, 1, 8.0}}) ==
          Elements{{indices, 0, 3.0}});
    CHECK_FALSE(carried_data(op, Problem::parse(op.space, "in=1x1"),
                             Problem::parse(op.space, "in=1x1"), {{"elsewhere", 0, 1.0}}));
}

TEST_CASE("all layouts are set back at once before each alone") {
    const Setting drawn{.offsets = {2}, .layouts = {{"dy", {"", 2}}, {"x", {"turned"}}}};
    std::vector<Setting> tried;
    auto simpler = setting_tree(drawn).shrinks();
    for (auto one = simpler.next(); one; one = simpler.next()) tried.push_back(one->value());
    const auto place_of = [&](const std::map<std::string, TensorLayout>& layouts) {
        Setting wanted = drawn;
        wanted.layouts = layouts;
        return std::ranges::find(tried, wanted) - tried.begin();
    };
    CHECK(place_of({}) < place_of({{"x", {"turned"}}}));
    CHECK(place_of({{"x", {"turned"}}}) < place_of({{"dy", {"", 2}}}));
    CHECK(place_of({{"dy", {"", 2}}}) < std::ssize(tried));
}
