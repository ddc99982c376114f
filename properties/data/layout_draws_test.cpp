// SPDX-License-Identifier: Apache-2.0
// Which layouts tensors are drawn in, at random and by turns, and how they shrink.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <map>
#include <set>

#include "properties/data/dense.hpp"
#include "properties/data/setting.hpp"
#include "properties/shrinking/shrink_data.hpp"
#include "properties/tests/shrinking.hpp"

namespace gradverify {

namespace {

using testing::case_on;
using testing::parsed;
using testing::test_kernel;
using testing::test_operator;

/// The test operator's grad_weight, whose x and y may lie with their axes the other way round.
struct LayoutKernel {
    Operator op = test_operator();
    testing::TestKernel kernel;

    explicit LayoutKernel(KernelDeclaration declared) : kernel(std::move(declared)) {
        const auto axes = [](bool turned) {
            return [turned](int rank) {
                std::vector<int> order;
                for (int axis = 0; axis < rank; ++axis)
                    order.push_back(turned ? rank - 1 - axis : axis);
                return order;
            };
        };
        for (TensorSpec* tensor : {&op.inputs[0], &op.outputs[0]})
            tensor->orders = {{"as_is", axes(false)}, {"turned", axes(true)}};
        kernel.kernel.op = &op;
        kernel.kernel.pass = op.find_pass("grad_weight");
    }
    LayoutKernel(const LayoutKernel&) = delete;
    LayoutKernel& operator=(const LayoutKernel&) = delete;

    Setting drawn(std::uint64_t seed) const {
        Setting setting;
        draw_layouts(kernel.kernel, parsed("c=2,in=3x4"), seed, setting);
        return setting;
    }
};

bool is_about(int count, int expected) { return std::abs(count - expected) < 160; }

constexpr int draws = 6000;

}  // namespace

TEST_CASE("a kernel that declares no layouts is given none") {
    const LayoutKernel plain(test_kernel());
    for (std::uint64_t seed = 0; seed < 200; ++seed) CHECK(plain.drawn(seed).layouts.empty());
    CHECK(dense_draw_count(plain.kernel.kernel, "repeatable") == 3);
    const LayoutKernel fixed(test_kernel().layout("x", "turned"));
    for (std::uint64_t seed = 0; seed < 200; ++seed) CHECK(fixed.drawn(seed).layouts.empty());
    CHECK(dense_draw_count(fixed.kernel.kernel, "repeatable") == 3);
}

TEST_CASE("of any strides rows are padded in a third, and cotangents expanded in a sixth") {
    const LayoutKernel any(test_kernel().strided("x").strided("y"));
    std::map<std::string, int> turned, padded, expanded, wholly;
    std::set<int> paddings;
    std::set<std::uint32_t> axes;
    for (std::uint64_t seed = 0; seed < draws; ++seed)
        for (const auto& [tensor, layout] : any.drawn(seed).layouts) {
            turned[tensor] += layout.order == "turned";
            padded[tensor] += layout.row_padding > 0;
            paddings.insert(layout.row_padding);
            expanded[tensor] += layout.expanded != 0;
            axes.insert(layout.expanded);
            const std::size_t rank = any.op.sizes_of(tensor, parsed("c=2,in=3x4")).size();
            CHECK(layout.expanded < (1u << rank));
            wholly[tensor] += layout.expanded == (1u << rank) - 1;
        }
    for (const char* tensor : {"x", "dy"}) {
        CAPTURE(tensor);
        CHECK(is_about(turned[tensor], draws / 2));
        CHECK(is_about(padded[tensor], draws / 3));
    }
    CHECK(turned.size() == 2);  // of w nothing is declared
    CHECK(paddings == std::set<int>{0, 1, 2, 3, 4, 5});
    CHECK(expanded["x"] == 0);
    CHECK(is_about(expanded["dy"], draws / 6));
    CHECK(wholly["dy"] > draws / 12 - 100);
    const std::size_t rank_of_dy = any.op.sizes_of("dy", parsed("c=2,in=3x4")).size();
    CHECK(axes.size() == std::size_t{1} << rank_of_dy);
}

TEST_CASE("dense draws go through the layouts by turns") {
    const LayoutKernel any(test_kernel().strided("x").strided("y"));
    CHECK(dense_draw_count(any.kernel.kernel, "repeatable") == 6);
    const std::size_t rank = any.op.sizes_of("dy", parsed("c=2,in=3x4")).size();
    const std::uint32_t last = 1u << (rank - 1), whole = (1u << rank) - 1;
    const TensorLayout of_x[] = {{}, {"turned", 1}, {"turned"}, {}, {"", 2}, {"turned"}};
    const TensorLayout of_dy[] = {{},         {"turned", 1}, {},
                                  {"turned"}, {"", 2, last}, {"turned", 0, whole}};
    for (int draw = 0; draw < 6; ++draw) {
        CAPTURE(draw);
        const Case dense =
            dense_case(any.kernel.kernel, "repeatable", "cpu", parsed("c=2,in=3x4"), draw);
        CHECK(dense.setting.layout_of("x") == of_x[draw]);
        CHECK(dense.setting.layout_of("dy") == of_dy[draw]);
        CHECK(dense.setting.layouts.size() == std::array{0, 2, 1, 1, 2, 2}[draw]);
    }
}

TEST_CASE("each of four orders is drawn as often, and goes by turns") {
    LayoutKernel named(test_kernel()
                           .layout_of("x", {"from_1", "as_is", "from_2", "turned"})
                           .layout_of("y", {"from_2", "from_1"}));
    for (TensorSpec* tensor : {&named.op.inputs[0], &named.op.outputs[0]})
        for (const int first : {1, 2})
            tensor->orders.push_back({"from_" + std::to_string(first), [first](int rank) {
                                          std::vector<int> order;
                                          for (int axis = 0; axis < rank; ++axis)
                                              order.push_back((first + axis) % rank);
                                          return order;
                                      }});
    std::map<std::string, int> drawn;
    for (std::uint64_t seed = 0; seed < draws; ++seed)
        for (const auto& [tensor, layout] : named.drawn(seed).layouts) {
            CHECK(layout.row_padding == 0);
            CHECK(layout.expanded == 0);
            ++drawn[tensor + "." + layout.order];
        }
    CHECK(drawn.size() == 4);  // the first ones are no part of the case
    CHECK(is_about(drawn["x.as_is"], draws / 4));
    CHECK(is_about(drawn["x.from_2"], draws / 4));
    CHECK(is_about(drawn["x.turned"], draws / 4));
    CHECK(is_about(drawn["dy.from_1"], draws / 2));
    // Each of the four twice.
    CHECK(dense_draw_count(named.kernel.kernel, "repeatable") == 8);
    std::map<std::string, int> dense;
    for (int draw = 0; draw < 8; ++draw)
        ++dense[dense_case(named.kernel.kernel, "repeatable", "cpu", parsed("c=2,in=3x4"), draw)
                    .setting.layout_of("x")
                    .order];
    CHECK(dense == std::map<std::string, int>{{"", 2}, {"as_is", 2}, {"from_2", 2}, {"turned", 2}});
}

TEST_CASE("dense draws bring each order of a tensor together with each of the others'") {
    const LayoutKernel both(
        test_kernel().layout_of("x", {"turned", "as_is"}).layout_of("y", {"as_is", "turned"}));
    std::set<std::pair<std::string, std::string>> met;
    for (int draw = 0; draw < dense_draw_count(both.kernel.kernel, "repeatable"); ++draw) {
        const Setting setting =
            dense_case(both.kernel.kernel, "repeatable", "cpu", parsed("c=2,in=3x4"), draw).setting;
        met.emplace(setting.layout_of("x").order, setting.layout_of("dy").order);
    }
    CHECK(met.size() == 4);
}

TEST_CASE("of a layout what does not matter is set back") {
    const testing::TestKernel kernel(test_kernel());
    Case found = case_on(kernel, parsed("in=1x1"));
    found.setting.layouts = {{"x", {"turned", 3}}, {"dy", {"turned", 4, 3}}};
    const auto shrink = [&](const std::function<bool(const Setting&)>& fails) {
        const CaseRunner runner = [&](const Case& candidate) {
            return fails(candidate.setting) ? Outcome::failed("wrong") : Outcome::passed();
        };
        ShrinkTrials trials(found, Outcome::failed("first"), runner);
        shrink_setting(trials);
        return trials.smallest().setting.layouts;
    };
    using Layouts = std::map<std::string, TensorLayout>;
    CHECK(shrink([](const Setting&) { return true; }).empty());
    CHECK(shrink([](const Setting&) { return false; }) == found.setting.layouts);
    CHECK(shrink([](const Setting& s) { return s.layout_of("x").order == "turned"; }) ==
          Layouts{{"x", {"turned"}}});
    CHECK(shrink([](const Setting& s) { return s.layout_of("x").row_padding > 0; }) ==
          Layouts{{"x", {"", 1}}});
    CHECK(shrink([](const Setting& s) { return s.layout_of("dy").expanded != 0; }) ==
          Layouts{{"dy", {"", 0, 3}}});
    CHECK(shrink([](const Setting& s) {
              return s.layout_of("dy").row_padding == 4 && s.layout_of("x").order == "turned";
          }) == Layouts{{"x", {"turned"}}, {"dy", {"", 4}}});
}

}  // namespace gradverify
