// SPDX-License-Identifier: Apache-2.0
// Tensors whose axes are cut into blocks: where their elements lie, and what must be in the tail of
// a last block that is not full.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "harness/devices/arena.hpp"
#include "harness/testing/device.hpp"

namespace gradverify {

namespace {

using testing::FakeDevice;

/// Of a tensor of 1 x 3 x 2, blocks of 2 along the channels: (c/2, w, 2c).
BufferSpec of_channels(const char* name, BufferRole role) {
    return {
        .name = name, .role = role, .sizes = {1, 3, 2}, .strides = {8, 4, 2}, .blocks = {{1, 2}}};
}

/// An input x and an output y of that.
struct BlockedRig {
    FakeDevice device;
    Arena arena;
    explicit BlockedRig(Poison poison = Poison::nan)
        : arena(device, {of_channels("x", BufferRole::input), of_channels("y", BufferRole::output)},
                {.poison = poison}) {
        arena.write(0, std::vector<double>{1, 2, 3, 4, 5, 6});
        arena.upload();
    }
    float* x() { return arena.view(0).as<float>(); }
    float* y() { return arena.view(1).as<float>(); }
    /// Of the stray writes, of which there is at most one.
    std::string found() {
        arena.download();
        const auto all = arena.stray_writes();
        CHECK(all.size() <= 1);
        return all.empty() ? "" : all[0].print(8);
    }
};

}  // namespace

TEST_CASE("elements of a blocked tensor lie block by block, and an input's tail is zeros") {
    BlockedRig rig;
    const TensorView view = rig.arena.view(0);
    CHECK(view.size(1) == 3);
    CHECK(view.stride(1) == 4);
    CHECK(view.block(1) == 2);
    CHECK(view.stride_in_block(1) == 1);
    for (const int axis : {0, 2}) {
        CHECK(view.block(axis) == 1);
        CHECK(view.stride_in_block(axis) == 0);
    }
    CHECK(view.elements() == 6);
    CHECK(view.elements_with_tails() == 8);
    CHECK(rig.arena.elements_with_tails(0) == 8);
    CHECK(rig.arena.bytes(0).size() == 8 * sizeof(float));
    CHECK(std::vector<float>(rig.x(), rig.x() + 8) == std::vector<float>{1, 3, 2, 4, 5, 0, 6, 0});
    CHECK(std::isnan(rig.x()[8]));
    rig.arena.download();
    CHECK(rig.arena.read(0) == std::vector<double>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("of two blocked axes the last named lies innermost") {
    for (const bool i_is_last : {false, true}) {
        FakeDevice device;
        std::vector<AxisBlock> blocks{{1, 2}, {0, 4}};
        if (i_is_last) blocks = {{0, 4}, {1, 2}};
        Arena arena(device, {{.name = "w", .sizes = {3, 3}, .strides = {16, 8}, .blocks = blocks}},
                    {});
        arena.write(0, std::vector<double>{11, 12, 13, 21, 22, 23, 31, 32, 33});
        arena.upload();
        const float* w = arena.view(0).as<float>();
        const std::vector<float> o_last{11, 21, 31, 0, 12, 22, 32, 0, 13, 23, 33, 0, 0, 0, 0, 0};
        const std::vector<float> i_last{11, 12, 21, 22, 31, 32, 0, 0, 13, 0, 23, 0, 33, 0, 0, 0};
        CHECK(std::vector<float>(w, w + 16) == (i_is_last ? i_last : o_last));
        CHECK(arena.view(0).stride_in_block(0) == (i_is_last ? 2 : 1));
        CHECK(arena.view(0).stride_in_block(1) == (i_is_last ? 1 : 4));
    }
}

TEST_CASE("of an axis that is cut twice the other's blocks lie between its pieces") {
    // OI2i3o2i, a small OIhw8i16o2i, of 4 x 5: blocks of 3 and 4. An element is 10 * o + i.
    const std::vector<AxisBlock> blocks{{1, 2}, {0, 3}, {1, 2}};
    FakeDevice device;
    Arena arena(device,
                {{.name = "w", .sizes = {4, 5}, .strides = {24, 12}, .blocks = blocks},
                 {.name = "dw",
                  .role = BufferRole::output,
                  .sizes = {4, 5},
                  .strides = {24, 12},
                  .blocks = blocks}},
                {});
    std::vector<double> values;
    for (int o = 1; o <= 4; ++o)
        for (int i = 1; i <= 5; ++i) values.push_back(10 * o + i);
    arena.write(0, values);
    arena.upload();
    const TensorView view = arena.view(0);
    const float* w = view.as<float>();
    const std::vector<float> wanted{
        11, 12, 21, 22, 31, 32, 13, 14, 23, 24, 33, 34,  // o of 1 to 3, i of 1 to 4
        15, 0,  25, 0,  35, 0,  0,  0,  0,  0,  0,  0,   // i of 5
        41, 42, 0,  0,  0,  0,  43, 44, 0,  0,  0,  0,   // o of 4
        45, 0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0};
    CHECK(std::vector<float>(w, w + 48) == wanted);
    CHECK(view.elements_with_tails() == 48);
    CHECK(view.block(1) == 4);
    CHECK(view.stride_in_block(1) == 6);
    CHECK(view.inner_block(1) == 2);
    CHECK(view.stride_in_inner_block(1) == 1);
    CHECK(view.block(0) == 3);
    CHECK(view.stride_in_block(0) == 2);
    CHECK(view.inner_block(0) == 1);
    CHECK(view.stride_in_inner_block(0) == 0);
    float* dw = arena.view(1).as<float>();
    std::copy_n(w, 48, dw);
    arena.download();
    CHECK(arena.read(1) == values);
    CHECK(arena.stray_writes().empty());
    dw[13] = 7.0f;
    arena.download();
    REQUIRE(arena.stray_writes().size() == 1);
    CHECK(arena.stray_writes()[0].print(48) ==
          "left 7 in the tail of dw's last block, which must be zeros (1 element, the first is "
          "element 13 in memory)");
}

TEST_CASE("each group has a tail of its own") {
    // gOI2o2i of two groups of 3 x 1: blocks of 2 x 2.
    FakeDevice device;
    Arena arena(
        device,
        {{.name = "w", .sizes = {2, 3, 1}, .strides = {8, 4, 4}, .blocks = {{1, 2}, {2, 2}}}}, {});
    const std::vector<double> values{1, 2, 3, 4, 5, 6};
    arena.write(0, values);
    arena.upload();
    const float* w = arena.view(0).as<float>();
    CHECK(std::vector<float>(w, w + 16) ==
          std::vector<float>{1, 0, 2, 0, 3, 0, 0, 0, 4, 0, 5, 0, 6, 0, 0, 0});
    arena.download();
    CHECK(arena.read(0) == values);
}

TEST_CASE("an output's tail is poisoned, and must be zeros after the call") {
    for (const Poison poison : {Poison::nan, Poison::positive_huge}) {
        BlockedRig rig(poison);
        for (int i = 0; i < 8; ++i) CHECK(std::isnan(rig.y()[i]) == (poison == Poison::nan));
        for (const int i : {0, 1, 2, 3, 4, 6}) rig.y()[i] = 1.0f;
        CHECK(rig.found().starts_with(poison == Poison::nan ? "left nan in" : "left 1.27"));
        rig.y()[5] = 0.0f;
        CHECK(rig.found().ends_with("(1 element, the first is element 7 in memory)"));
        rig.y()[7] = -0.0f;
        CHECK(rig.found() == "");
        CHECK(rig.arena.untouched(1).empty());
    }
}

TEST_CASE("what a kernel leaves in a tail is said, and where") {
    BlockedRig rig;
    for (int i = 0; i < 8; ++i) rig.y()[i] = 0.5f;
    CHECK(rig.found() ==
          "left 0.5 in the tail of y's last block, which must be zeros (2 elements, the first is "
          "element 5 in memory)");
    CHECK(rig.arena.read(1) == std::vector<double>(6, 0.5));
    rig.y()[5] = rig.y()[7] = NAN;
    CHECK(rig.found().starts_with("left nan in the tail of y's last block"));
    rig.y()[5] = 0.0f;
    rig.y()[7] = 0.0f;
    rig.y()[4] = NAN;  // an element: for others to judge
    CHECK(rig.found() == "");
}

TEST_CASE("an input's tail is watched like the input, and what lies behind like any guard") {
    {
        BlockedRig rig;
        for (int i = 0; i < 8; ++i) rig.y()[i] = 0.0f;
        rig.x()[7] = 1.0f;
        CHECK(rig.found() == "changed its input x (1 element, first x[7])");
    }
    BlockedRig rig;
    for (int i = 0; i < 9; ++i) rig.y()[i] = 0.0f;
    CHECK(rig.found() == "wrote 1 element past the end of y, the first at y[8] of 8");
}

TEST_CASE("an output that is added to has zeros in its tail before, and one not asked for poison") {
    FakeDevice device;
    Arena arena(device,
                {of_channels("y", BufferRole::output), of_channels("z", BufferRole::unwanted)}, {});
    arena.write(0, std::vector<double>{1, 2, 3, 4, 5, 6});
    arena.upload();
    CHECK(arena.view(0).as<float>()[7] == 0.0f);
    CHECK(std::isnan(arena.view(1).as<float>()[7]));
    arena.download();
    CHECK(arena.stray_writes().empty());
    arena.view(1).as<float>()[7] = 0.0f;
    arena.download();
    REQUIRE(arena.stray_writes().size() == 1);
    CHECK(arena.stray_writes()[0].print(8) ==
          "wrote to z, which is not asked for (1 element, first z[7])");
}

TEST_CASE("a blocked tensor without elements has no tail") {
    FakeDevice device;
    Arena arena(device,
                {{.name = "y",
                  .role = BufferRole::output,
                  .sizes = {0, 3, 2},
                  .strides = {8, 4, 2},
                  .blocks = {{1, 2}}}},
                {});
    arena.upload();
    arena.download();
    CHECK(arena.bytes(0).empty());
    CHECK(arena.stray_writes().empty());
    CHECK(arena.untouched(0).empty());
}

}  // namespace gradverify
