// SPDX-License-Identifier: Apache-2.0
#include "properties/data/setting.hpp"

#include <doctest/doctest.h>

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

TEST_CASE("all outputs and each subset of them are drawn, where the kernel takes a mask") {
    PassSpec pass = pass_of({"x"});
    KernelDeclaration kernel;
    const auto masks = [&](std::vector<std::string> outputs) {
        pass.outputs = std::move(outputs);
        std::set<std::uint32_t> drawn;
        for (std::uint64_t seed = 0; seed < 300; ++seed)
            drawn.insert(draw_setting(kernel, pass, seed).output_mask);
        return drawn;
    };
    using Masks = std::set<std::uint32_t>;
    constexpr std::uint32_t all = Setting::every_output;
    CHECK(masks({"y", "z", "s"}) == Masks{all});
    kernel.takes_output_mask = true;
    CHECK(masks({"y"}) == Masks{0, all});
    CHECK(masks({"y", "z"}) == Masks{0, 1, 2, all});
    CHECK(masks({"y", "z", "s"}) == Masks{0, 1, 2, 3, 4, 5, 6, all});
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
        std::set<int> places;
        for (std::uint64_t seed = 0; seed < 100; ++seed)
            places.insert(draw_setting(declared, pass_of({"x", "w"}), seed).place);
        return places;
    };
    CHECK(drawn(kernel) == std::set{0, 1, 2});
    CHECK(drawn(KernelDeclaration().in_place("y", "w")) == std::set{0, 1});
    CHECK(drawn(updating) == std::set{0});
}

}  // namespace gradverify
