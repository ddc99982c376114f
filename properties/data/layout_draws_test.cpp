// SPDX-License-Identifier: Apache-2.0
// The layouts that tensors are drawn in, at random and by turns, and how they shrink.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <map>
#include <set>

#include "harness/base/random.hpp"
#include "properties/data/dense.hpp"
#include "properties/data/setting.hpp"
#include "properties/shrinking/shrink_data.hpp"
#include "properties/tests/shrinking.hpp"

namespace gradverify {

using namespace testing;

namespace {

const Problem problem = parsed("c=2,in=3x4");

/// The test operator's grad_weight, whose x and y may lie with their axes the other way round.
struct LayoutKernel {
    Operator op = test_operator();
    TestKernel kernel;

    explicit LayoutKernel(KernelDeclaration declared) : kernel(std::move(declared), op) {
        add_order("as_is", [](int position, int) { return position; });
        add_order("turned", [](int position, int rank) { return rank - 1 - position; });
    }
    LayoutKernel(const LayoutKernel&) = delete;
    LayoutKernel& operator=(const LayoutKernel&) = delete;

    /// `axis_at(position, rank)`: the axis that lies there.
    template <class AxisAt>
    void add_order(const std::string& name, AxisAt axis_at) {
        for (TensorSpec* tensor : {&op.inputs[0], &op.outputs[0]})
            tensor->orders.push_back({name, [=](int rank) {
                                          std::vector<int> order;
                                          for (int i = 0; i < rank; ++i)
                                              order.push_back(axis_at(i, rank));
                                          return order;
                                      }});
    }
    Setting drawn(std::uint64_t seed) const {
        Setting setting;
        draw_layouts(kernel.kernel, problem, seed, setting);
        return setting;
    }
    int dense_draws() const { return dense_draw_count(kernel.kernel, "repeatable"); }
    Setting dense(int draw) const {
        return dense_case(kernel.kernel, "repeatable", "cpu", problem, draw).setting;
    }
    std::size_t rank_of(const std::string& tensor) const {
        return op.sizes_of(tensor, problem).size();
    }
};

bool is_about(int count, int expected) { return std::abs(count - expected) < 160; }

constexpr int draws = 6000;

}  // namespace

TEST_CASE("a kernel that declares no layouts is given none") {
    const LayoutKernel plain(test_kernel()), fixed(test_kernel().layout("x", "turned"));
    for (const LayoutKernel* kernel : {&plain, &fixed}) {
        for (std::uint64_t seed = 0; seed < 200; ++seed) CHECK(kernel->drawn(seed).layouts.empty());
        CHECK(kernel->dense_draws() == 3);
    }
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
            const std::uint32_t whole = (1u << any.rank_of(tensor)) - 1;
            CHECK(layout.expanded <= whole);
            wholly[tensor] += layout.expanded == whole;
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
    CHECK(axes.size() == std::size_t{1} << any.rank_of("dy"));
}

TEST_CASE("dense draws go through the layouts by turns") {
    const LayoutKernel any(test_kernel().strided("x").strided("y"));
    CHECK(any.dense_draws() == 6);
    const std::size_t rank = any.rank_of("dy");
    const std::uint32_t last = 1u << (rank - 1), whole = (1u << rank) - 1;
    const TensorLayout of_x[] = {{}, {"turned", 1}, {"turned"}, {}, {"", 2}, {"turned"}};
    const TensorLayout of_dy[] = {{},         {"turned", 1}, {},
                                  {"turned"}, {"", 2, last}, {"turned", 0, whole}};
    for (int draw = 0; draw < 6; ++draw) {
        CAPTURE(draw);
        const Setting dense = any.dense(draw);
        CHECK(dense.layout_of("x") == of_x[draw]);
        CHECK(dense.layout_of("dy") == of_dy[draw]);
        CHECK(dense.layouts.size() == std::array{0, 2, 1, 1, 2, 2}[draw]);
    }
}

TEST_CASE("rows are padded, and cotangents expanded, where there are two axes") {
    Operator op = make_test_operator();
    op.inputs[0].sizes = [](const Problem&) { return Sizes{3, 4}; };
    const TestKernel any(test_kernel().strided("x").strided("b"), op);
    Kernel forward = any.kernel;
    forward.pass = op.find_pass("forward");
    // By the strides of one tensor alone, whose axes have no other order.
    CHECK(dense_draw_count(any.kernel, "repeatable") == 6);
    std::set<int> paddings;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Setting setting;
        draw_layouts(forward, problem, seed, setting);
        CHECK_FALSE(setting.layouts.contains("b"));
        paddings.insert(setting.layout_of("x").row_padding);
    }
    CHECK(paddings == std::set<int>{0, 1, 2, 3, 4, 5});
    for (int draw = 0; draw < 6; ++draw) {
        const Setting setting = dense_case(forward, "repeatable", "cpu", problem, draw).setting;
        CHECK_FALSE(setting.layouts.contains("b"));
        CHECK(setting.layout_of("x").row_padding == (draw % 3 == 1 ? 1 + draw / 3 : 0));
    }
}

TEST_CASE("the layouts of a seed, and of a dense draw, are the same everywhere") {
    LayoutKernel any(test_kernel().strided("x").strided("y"));
    any.add_order("from_1", [](int position, int rank) { return (1 + position) % rank; });
    any.op.passes.front().steps.emplace_back();  // a chain has many dense draws
    std::uint64_t random = 0, dense = 0;
    const auto add = [&](std::uint64_t& digest, const Setting& setting) {
        Case one = case_on(any.kernel, problem);
        one.setting = setting;
        digest = mix_seed(digest, one.print());
    };
    for (std::uint64_t seed = 0; seed < 300; ++seed) add(random, any.drawn(seed));
    for (int draw = 0; draw < any.dense_draws(); ++draw) add(dense, any.dense(draw));
    CHECK(random == 1496579662479318111u);
    CHECK(dense == 9073161149639443404u);
}

TEST_CASE("each of four orders is drawn as often, and goes by turns") {
    LayoutKernel named(test_kernel()
                           .layout_of("x", {"from_1", "as_is", "from_2", "turned"})
                           .layout_of("y", {"from_2", "from_1"}));
    for (const int first : {1, 2})
        named.add_order("from_" + std::to_string(first),
                        [first](int position, int rank) { return (first + position) % rank; });
    std::map<std::string, int> drawn;
    for (std::uint64_t seed = 0; seed < draws; ++seed)
        for (const auto& [tensor, layout] : named.drawn(seed).layouts) {
            CHECK(layout.row_padding == 0);
            CHECK(layout.expanded == 0);
            ++drawn[tensor + "." + layout.order];
        }
    CHECK(drawn.size() == 4);  // the first ones are no part of the case
    for (const char* order : {"x.as_is", "x.from_2", "x.turned"})
        CHECK(is_about(drawn[order], draws / 4));
    CHECK(is_about(drawn["dy.from_1"], draws / 2));
    // Each of the four twice.
    CHECK(named.dense_draws() == 8);
    std::map<std::string, int> dense;
    for (int draw = 0; draw < 8; ++draw) ++dense[named.dense(draw).layout_of("x").order];
    CHECK(dense == std::map<std::string, int>{{"", 2}, {"as_is", 2}, {"from_2", 2}, {"turned", 2}});
}

TEST_CASE("dense draws bring each order of a tensor together with each of the others'") {
    const LayoutKernel both(
        test_kernel().layout_of("x", {"turned", "as_is"}).layout_of("y", {"as_is", "turned"}));
    std::set<std::pair<std::string, std::string>> met;
    for (int draw = 0; draw < both.dense_draws(); ++draw) {
        const Setting setting = both.dense(draw);
        met.emplace(setting.layout_of("x").order, setting.layout_of("dy").order);
    }
    CHECK(met.size() == 4);
}

TEST_CASE("of a layout what does not matter is set back") {
    const TestKernel kernel(test_kernel());
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
