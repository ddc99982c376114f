// SPDX-License-Identifier: Apache-2.0
// Which simpler data and settings are offered; that a failure ends at the simplest one is tested
// beside shrinking.
#include "properties/data/simpler.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "properties/tests/operator.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

using Elements = std::vector<DataElement>;

/// Data of one element of each of some listed tensors, on a problem of one element in each.
bool is_tried(const Elements& listed, const Elements& wanted) {
    const Operator& op = test_operator();
    auto all = one_hot_data(op, Problem::parse(op.space, "in=1x1"), listed);
    for (auto one = all.next(); one; one = all.next())
        if (one->value() == Data{.is_explicit = true, .elements = wanted}) return true;
    return false;
}

}  // namespace

TEST_CASE("one element of each of up to three tensors is tried, while there are 300 choices") {
    // The highest index says how long data is that belongs to no tensor, wherever it is listed.
    const auto listing_of = [](std::int64_t u, std::int64_t v) {
        return Elements{{"u", u - 1, 5.0}, {"u", 0, 5.0}, {"v", v - 1, 5.0}};
    };
    const Elements three{{"x", 0, 5.0}, {"w", 0, 5.0}, {"dy", 0, 5.0}, {"b", 0, 5.0}};
    struct Line {
        Elements listed, wanted;
        bool is_tried;
    };
    for (const Line& line :
         {Line{three, {}, true},
          {three, {{"x", 0, 2.0}, {"w", 0, 2.0}, {"dy", 0, 2.0}}, true},
          {three, {{"x", 0, 2.0}, {"w", 0, 2.0}, {"dy", 0, 2.0}, {"b", 0, 2.0}}, false},
          {listing_of(20, 15), {{"u", 19, 1.0}}, true},
          {listing_of(20, 15), {{"u", 20, 1.0}}, false},
          {listing_of(20, 15), {{"u", 19, 1.0}, {"v", 14, 1.0}}, true},
          {listing_of(20, 16), {{"u", 19, 1.0}, {"v", 14, 1.0}}, false},
          {listing_of(300, 301), {{"u", 299, 1.0}}, true},
          {listing_of(300, 301), {{"v", 299, 1.0}}, false}}) {
        CAPTURE(line.listed[0].index);
        CAPTURE(line.wanted.size());
        CHECK(is_tried(line.listed, line.wanted) == line.is_tried);
    }
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
