// SPDX-License-Identifier: Apache-2.0
// The settings that are drawn, and the layouts among them, at random and by turns.
#include "properties/data/setting.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <map>
#include <set>

#include "harness/base/random.hpp"
#include "properties/data/dense.hpp"
#include "properties/tests/shrinking.hpp"

namespace gradverify {

using namespace testing;

namespace {

/// The values of a field in 300 settings of a kernel whose pass has these outputs.
template <class Value>
std::set<Value> drawn(const KernelDeclaration& declared, Value Setting::* field,
                      std::vector<std::string> outputs = {"dw"}) {
    TestKernel kernel(declared);
    PassSpec pass = *kernel.kernel.pass;
    pass.outputs = std::move(outputs);
    kernel.kernel.pass = &pass;
    std::set<Value> all;
    for (std::uint64_t seed = 0; seed < 300; ++seed)
        all.insert(draw_setting(kernel.kernel, seed).*field);
    return all;
}

std::set<int> offsets(const KernelDeclaration& kernel) {
    std::set<int> all;
    for (const auto& listed : drawn(kernel, &Setting::offsets)) {
        CHECK(listed.size() <= 3);
        // What stays in place at the end is not listed.
        CHECK((listed.empty() || listed.back() != 0));
        all.insert(listed.begin(), listed.end());
    }
    return all;
}

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

TEST_CASE("every order, offset, block size and stream that a kernel allows is drawn") {
    const KernelDeclaration kernel = KernelDeclaration().aligned_to(4).blocks_of({256, 64});
    CHECK(drawn(kernel, &Setting::order).size() == 4);
    CHECK(offsets(kernel) == std::set{0, 1, 2, 3});
    CHECK(drawn(kernel, &Setting::block_size) == std::set{0, 64});
    CHECK(drawn(kernel, &Setting::own_stream).size() == 2);
}

TEST_CASE("what takes long is not drawn for the default stream, unless a kernel knows no other") {
    const auto streams = [&](const KernelDeclaration& declared, double multiply_adds) {
        TestKernel kernel(declared);
        PassSpec pass = *kernel.kernel.pass;
        pass.multiply_adds = [=](const Problem&) { return multiply_adds; };
        kernel.kernel.pass = &pass;
        std::set<bool> all;
        for (std::uint64_t seed = 0; seed < 300; ++seed)
            all.insert(draw_setting(kernel.kernel, problem, seed).own_stream);
        return all;
    };
    const double most = most_multiply_adds_by_default;
    CHECK(streams(KernelDeclaration(), most) == std::set{false, true});
    CHECK(streams(KernelDeclaration(), most + 1.0) == std::set{true});
    CHECK(streams(KernelDeclaration().on_default_stream(), most + 1.0) == std::set{false});
}

TEST_CASE("what a kernel does not declare is not drawn") {
    // It has cudaMalloc's alignment, and one block size.
    const KernelDeclaration kernel = KernelDeclaration().on_default_stream();
    CHECK(offsets(kernel).empty());
    CHECK(drawn(kernel, &Setting::block_size) == std::set{0});
    CHECK(drawn(kernel, &Setting::own_stream) == std::set{false});
    const KernelDeclaration vectorised = KernelDeclaration().aligned_to(16);
    CHECK(offsets(vectorised) == std::set{0, 4, 8, 12});
    CHECK(offsets(KernelDeclaration(vectorised).storage(DType::f16)) == std::set{0, 8, 16, 24});
    CHECK(offsets(KernelDeclaration(vectorised).storage(DType::f64)) == std::set{0, 2, 4, 6});
}

TEST_CASE("all outputs and each subset of them are drawn, where the kernel takes a mask") {
    using Masks = std::set<std::uint32_t>;
    constexpr std::uint32_t all = Setting::every_output;
    KernelDeclaration kernel;
    CHECK(drawn(kernel, &Setting::output_mask, {"dw", "dx", "db"}) == Masks{all});
    kernel.takes_output_mask = true;
    CHECK(drawn(kernel, &Setting::output_mask) == Masks{0, all});
    CHECK(drawn(kernel, &Setting::output_mask, {"dw", "dx"}) == Masks{0, 1, 2, all});
    CHECK(drawn(kernel, &Setting::output_mask, {"dw", "dx", "db"}) ==
          Masks{0, 1, 2, 3, 4, 5, 6, all});
}

TEST_CASE("each input that an output may lie in place of is drawn, and none") {
    const KernelDeclaration kernel = KernelDeclaration().in_place("y", "x").in_place("y", "w");
    const KernelDeclaration updating = KernelDeclaration().updates("y", "x");
    CHECK(kernel.places() == 2);
    CHECK(kernel.alias_of("y", 0) == nullptr);
    CHECK(kernel.alias_of("y", 1)->input == "x");
    CHECK(kernel.alias_of("y", 2)->input == "w");
    CHECK(kernel.alias_of("z", 1) == nullptr);
    CHECK(updating.places() == 0);
    CHECK(updating.alias_of("y", 0)->input == "x");
    CHECK(drawn(kernel, &Setting::place) == std::set{0, 1, 2});
    CHECK(drawn(KernelDeclaration().in_place("y", "w"), &Setting::place) == std::set{0, 1});
    CHECK(drawn(updating, &Setting::place) == std::set{0});
}

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
    int padded = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Setting setting;
        draw_layouts(forward, problem, seed, setting);
        CHECK_FALSE(setting.layouts.contains("b"));
        padded += setting.layout_of("x").row_padding > 0;
    }
    CHECK(padded > 10);
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

}  // namespace gradverify
