// SPDX-License-Identifier: Apache-2.0
// relu, maxpool and avgpool against values worked by hand.
#include <cmath>
#include <limits>
#include <string>

#include "reference/tests/run_pass.hpp"

namespace gradverify {

using namespace testing;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// NaN equals NaN here.
void check_same(const Numbers& got, const Numbers& want) {
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        CAPTURE(i);
        if (std::isnan(want[i]))
            CHECK(std::isnan(got[i]));
        else
            CHECK(got[i] == want[i]);
    }
}

/// maxpool alone has an index.
struct Pooled {
    Numbers y, index, dx;
};

Pooled pooled(const char* op, const std::string& problem, const Numbers& x, const Numbers& dy) {
    const auto out = run(op, "forward", problem, {{"x", x}});
    return {out.front(), out.back(), run(op, "grad_input", problem, {{"x", x}, {"dy", dy}})[0]};
}

}  // namespace

TEST_CASE("relu cuts off below zero, and its gradient is zero at zero and at NaN") {
    const Numbers x{-2, 0, 3, nan, inf, -inf};
    check_same(run("relu", "forward", "n=6", {{"x", x}})[0], {0, 0, 3, nan, inf, 0});
    check_same(run("relu", "grad_input", "n=6", {{"x", x}, {"dy", {1, 2, 4, 8, 16, 32}}})[0],
               {0, 0, 4, 0, 16, 0});
}

TEST_CASE("maxpool takes the first of ties in window order, and adds up what windows share") {
    // 1 5 2
    // 5 0 7
    // 7 7 3
    const Pooled all =
        pooled("maxpool", "in=3x3,window=2x2", {1, 5, 2, 5, 0, 7, 7, 7, 3}, {1, 2, 3, 4});
    check_same(all.y, {5, 7, 7, 7});
    check_same(all.index, {1, 5, 6, 5});
    check_same(all.dx, {0, 1, 0, 0, 0, 6, 3, 0, 0});
}

TEST_CASE("maxpool passes over the padding, and its index is the position in the plane") {
    // Windows have 3 rows from -1 and 0, and 2 columns from -1 and 1.
    const Pooled all = pooled("maxpool", "c=2,in=2x3,window=3x2,stride=1x2,padding=1x1",
                              {-1, -2, -3, -4, -5, -6, 1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6, 7, 8});
    check_same(all.y, {-1, -2, -1, -2, 4, 6, 4, 6});
    check_same(all.index, {0, 1, 0, 1, 3, 5, 3, 5});
    check_same(all.dx, {4, 6, 0, 0, 0, 0, 0, 0, 0, 12, 0, 14});
    // Taps 0 and 2 of an axis: 9 lies between them.
    const Pooled dilated =
        pooled("maxpool", "in=3x3,window=2x2,dilation=2x2", {1, 9, 2, 9, 9, 9, 4, 9, 3}, {5});
    check_same(dilated.y, {4});
    check_same(dilated.index, {6});
}

TEST_CASE("maxpool of NaN is NaN, from the last one; of -inf alone it is the first") {
    const Pooled all = pooled("maxpool", "in=1x5,window=1x3", {nan, 1, nan, inf, 2}, {1, 2, 4});
    check_same(all.y, {nan, nan, nan});
    check_same(all.index, {2, 2, 2});
    check_same(all.dx, {0, 0, 7, 0, 0});
    const Pooled least = pooled("maxpool", "in=1x3,window=1x3", {-inf, -inf, -inf}, {1});
    check_same(least.y, {-inf});
    check_same(least.index, {0});
    // NaN with its sign set is one like any other.
    check_same(pooled("maxpool", "in=1x2,window=1x2", {-nan, inf}, {1}).index, {0});
}

TEST_CASE("maxpool has no window without a pixel") {
    const auto why = [](const char* text) { return why_invalid(operator_of("maxpool"), text); };
    CHECK(why("in=2x2,window=2x2,padding=1x1") == "");
    CHECK(why("in=2x2,window=2x1,padding=1x1") ==
          "maxpool needs a padding of at most half of what the window spans");
    // Taps at -1 and 4 of four pixels.
    CHECK(why("in=1x4,window=1x2,dilation=1x5,padding=0x1") ==
          "maxpool needs a pixel of the image in every window");
    CHECK(why("in=1x5,window=1x2,dilation=1x5,padding=0x1") == "");
    CHECK(pooled("maxpool", "in=2x2,window=3x1", {1, 2, 3, 4}, {}).y.empty());
}

TEST_CASE("avgpool divides by what is left of a window inside the image, or by its positions") {
    // Windows of three from -1, 1 and 3 of four pixels; the image with its padding ends at 5.
    const std::string problem = "in=1x4,window=1x3,stride=1x2,padding=0x1,ceil=1";
    const Numbers x{6, 12, 18, 24}, dy{6, 6, 6};
    const Pooled excluded = pooled("avgpool", problem, x, dy);
    check_same(excluded.y, {9, 18, 24});
    check_same(excluded.dx, {3, 5, 2, 8});
    const Pooled included = pooled("avgpool", problem + ",include_pad=1", x, dy);
    check_same(included.y, {6, 18, 12});
    check_same(included.dx, {2, 4, 2, 5});
    const Pooled fewer = pooled("avgpool", "in=1x4,window=1x3,stride=1x2,padding=0x1", x, {6, 6});
    check_same(fewer.y, {9, 18});
    check_same(fewer.dx, {3, 5, 2, 2});
}

TEST_CASE("avgpool's axes have windows, strides and paddings of their own") {
    // 1 2 3
    // 4 5 6
    const Pooled all =
        pooled("avgpool", "in=2x3,window=2x1,stride=1x2", {1, 2, 3, 4, 5, 6}, {2, 4});
    check_same(all.y, {2.5, 4.5});
    check_same(all.dx, {1, 0, 2, 1, 0, 2});
    const Pooled planes = pooled("avgpool", "n=2,in=1x2,window=1x2,padding=0x1,include_pad=1",
                                 {2, 4, 6, 8}, {2, 4, 6, 8, 10, 12});
    check_same(planes.y, {1, 3, 2, 3, 7, 4});
    check_same(planes.dx, {3, 5, 9, 11});
}

TEST_CASE("avgpool's last window starts inside the image or its left padding") {
    const auto windows = [](const std::string& problem) {
        const Operator& op = operator_of("avgpool");
        return op.sizes_of("y", Problem::parse(op.space, problem)).back();
    };
    // From 0, and with ceil=1 from 3, which is beyond three pixels and inside of four.
    CHECK(windows("in=1x3,window=1x2,stride=1x3") == 1);
    CHECK(windows("in=1x3,window=1x2,stride=1x3,ceil=1") == 1);
    CHECK(windows("in=1x4,window=1x2,stride=1x3,ceil=1") == 2);
    // From -1 and 1, of one pixel; the second begins in the right padding.
    CHECK(windows("in=1x1,window=1x2,stride=1x2,padding=0x1,ceil=1") == 1);
    // A window larger than the image: none, but one where rounding up finds room for it.
    CHECK(windows("in=1x1,window=1x2") == 0);
    CHECK(windows("in=1x1,window=1x2,ceil=1") == 0);
    CHECK(windows("in=1x1,window=1x2,stride=1x2,ceil=1") == 1);
    CHECK(windows("in=1x1,window=1x9,stride=1x2,ceil=1") == 0);
    CHECK(windows("in=1x5,window=1x2,stride=1x2") == 2);
    CHECK(windows("in=1x5,window=1x2,stride=1x2,ceil=1") == 3);
    check_same(pooled("avgpool", "in=1x5,window=1x2,stride=1x2,ceil=1,include_pad=1",
                      {1, 2, 3, 4, 5}, {2, 4, 6})
                   .y,
               {1.5, 3.5, 5});
}

TEST_CASE("avgpool is exact where every divisor is a power of two") {
    const Operator& op = operator_of("avgpool");
    const auto is_exact = [&](const std::string& problem) {
        return op.is_exact_at(Problem::parse(op.space, problem));
    };
    CHECK(is_exact("in=9x9,window=4x2"));
    CHECK_FALSE(is_exact("in=9x9,window=3x2"));
    // Two and three pixels of a window; with the padding counted, four.
    CHECK_FALSE(is_exact("in=1x9,window=1x4,padding=0x1"));
    CHECK(is_exact("in=1x9,window=1x4,padding=0x1,include_pad=1"));
    CHECK(is_exact("in=1x9,window=1x2,padding=0x1"));
    CHECK_FALSE(is_exact("in=99x99,window=64x64"));
    const Operator& relu = operator_of("relu");
    CHECK(relu.is_exact_at(Problem::parse(relu.space, "n=3")));
}

}  // namespace gradverify
