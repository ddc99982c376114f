// SPDX-License-Identifier: Apache-2.0
#include "properties/setting_draw.hpp"

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

}  // namespace gradverify
