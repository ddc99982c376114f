// SPDX-License-Identifier: Apache-2.0
#include "properties/data/setting.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <set>

namespace gradverify {

namespace {

PassSpec pass_of(std::vector<std::string> inputs) {
    PassSpec pass;
    pass.name = "forward";
    pass.inputs = std::move(inputs);
    pass.outputs = {"y"};
    return pass;
}

}  // namespace

TEST_CASE("every order, offset, block size and stream that a kernel allows is drawn") {
    KernelDeclaration kernel;
    kernel.aligned_to(4).blocks_of({256, 64});
    std::set<ThreadOrder> orders;
    std::set<int> offsets, blocks, streams;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const Setting setting = draw_setting(kernel, pass_of({"x", "w"}), seed);
        orders.insert(setting.order);
        offsets.insert(setting.offsets.begin(), setting.offsets.end());
        blocks.insert(setting.block_size);
        streams.insert(setting.own_stream);
        CHECK(setting.offsets.size() <= 3);
        // What stays in place at the end is not listed.
        CHECK((setting.offsets.empty() || setting.offsets.back() != 0));
    }
    CHECK(orders.size() == 4);
    CHECK(offsets == std::set<int>{0, 1, 2, 3});
    CHECK(blocks == std::set<int>{0, 64});
    CHECK(streams.size() == 2);
}

TEST_CASE("what a kernel does not declare is not drawn") {
    KernelDeclaration kernel;  // cudaMalloc's alignment, one block size
    kernel.on_default_stream();
    KernelDeclaration vectorised;
    vectorised.aligned_to(16);
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const Setting setting = draw_setting(kernel, pass_of({"x"}), seed);
        CHECK(setting.offsets.empty());
        CHECK(setting.block_size == 0);
        CHECK_FALSE(setting.own_stream);
        for (const int offset : draw_setting(vectorised, pass_of({"x"}), seed).offsets)
            CHECK(offset % 4 == 0);
        for (const int offset : draw_setting(vectorised, pass_of({"x"}), seed, 2).offsets)
            CHECK(offset % 8 == 0);
        for (const int offset : draw_setting(vectorised, pass_of({"x"}), seed, 8).offsets)
            CHECK(offset % 2 == 0);
    }
}

TEST_CASE("half of the settings ask for all outputs, the others for each subset alike") {
    PassSpec pass = pass_of({"x"});
    KernelDeclaration kernel;
    const auto masks = [&](std::vector<std::string> outputs) {
        pass.outputs = std::move(outputs);
        std::map<std::uint32_t, int> counts;
        for (std::uint64_t seed = 0; seed < 7000; ++seed)
            ++counts[draw_setting(kernel, pass, seed).output_mask];
        return counts;
    };
    constexpr std::uint32_t all = Setting::every_output;
    CHECK(masks({"y", "z", "s"}) == std::map<std::uint32_t, int>{{all, 7000}});
    kernel.takes_output_mask = true;
    std::map<std::uint32_t, int> one = masks({"y"});
    CHECK(one.size() == 2);
    CHECK(one[0] > 1500);
    CHECK(one[0] < 2000);
    // None of them is a subset too: eight of three.
    std::map<std::uint32_t, int> three = masks({"y", "z", "s"});
    CHECK(three.size() == 8);
    for (std::uint32_t mask = 0; mask < 7; ++mask) {
        CHECK(three[mask] > 350);
        CHECK(three[mask] < 525);
    }
    std::map<std::uint32_t, int> two = masks({"y", "z"});
    CHECK(two.size() == 4);
    for (const std::uint32_t mask : {0u, 1u, 2u}) CHECK(two[mask] > 750);
}

TEST_CASE("each input that an output may lie in place of is drawn, and none") {
    KernelDeclaration kernel;
    kernel.in_place("y", "x").in_place("y", "w");
    CHECK(kernel.places() == 2);
    CHECK(kernel.alias_of("y", 0) == nullptr);
    CHECK(kernel.alias_of("y", 1)->input == "x");
    CHECK(kernel.alias_of("y", 2)->input == "w");
    CHECK(kernel.alias_of("z", 1) == nullptr);
    KernelDeclaration updating;
    updating.updates("y", "x");
    CHECK(updating.places() == 0);
    CHECK(updating.alias_of("y", 0)->input == "x");
    const auto drawn = [](const KernelDeclaration& declared) {
        std::map<int, int> places;
        for (std::uint64_t seed = 0; seed < 4000; ++seed)
            ++places[draw_setting(declared, pass_of({"x", "w"}), seed).place];
        return places;
    };
    const auto is_about = [](int count, int expected) { return std::abs(count - expected) < 150; };
    std::map<int, int> two = drawn(kernel);
    CHECK(two.size() == 3);
    CHECK(is_about(two[0], 2000));
    CHECK(is_about(two[1], 1000));
    CHECK(is_about(two[2], 1000));
    std::map<int, int> one = drawn(KernelDeclaration().in_place("y", "w"));
    CHECK(one.size() == 2);
    CHECK(is_about(one[0], 2000));
    CHECK(is_about(one[1], 2000));
    CHECK(drawn(updating) == std::map<int, int>{{0, 4000}});
}

}  // namespace gradverify
