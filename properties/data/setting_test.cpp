// SPDX-License-Identifier: Apache-2.0
#include "properties/data/setting.hpp"

#include <doctest/doctest.h>

#include <set>

namespace gradverify {

namespace {

PassSpec pass_of(std::vector<std::string> outputs = {"y"}) {
    return {.name = "forward", .inputs = {"x", "w"}, .outputs = std::move(outputs)};
}

/// The values of a field in 300 settings.
template <class Value>
std::set<Value> drawn(const KernelDeclaration& kernel, Value Setting::* field,
                      const PassSpec& pass = pass_of(), std::int64_t element_bytes = 4) {
    std::set<Value> all;
    for (std::uint64_t seed = 0; seed < 300; ++seed)
        all.insert(draw_setting(kernel, pass, seed, element_bytes).*field);
    return all;
}

std::set<int> offsets(const KernelDeclaration& kernel, std::int64_t element_bytes = 4) {
    std::set<int> all;
    for (const auto& listed : drawn(kernel, &Setting::offsets, pass_of(), element_bytes)) {
        CHECK(listed.size() <= 3);
        // What stays in place at the end is not listed.
        CHECK((listed.empty() || listed.back() != 0));
        all.insert(listed.begin(), listed.end());
    }
    return all;
}

}  // namespace

TEST_CASE("every order, offset, block size and stream that a kernel allows is drawn") {
    const KernelDeclaration kernel = KernelDeclaration().aligned_to(4).blocks_of({256, 64});
    CHECK(drawn(kernel, &Setting::order).size() == 4);
    CHECK(offsets(kernel) == std::set{0, 1, 2, 3});
    CHECK(drawn(kernel, &Setting::block_size) == std::set{0, 64});
    CHECK(drawn(kernel, &Setting::own_stream).size() == 2);
}

TEST_CASE("what a kernel does not declare is not drawn") {
    // It has cudaMalloc's alignment, and one block size.
    const KernelDeclaration kernel = KernelDeclaration().on_default_stream();
    CHECK(offsets(kernel).empty());
    CHECK(drawn(kernel, &Setting::block_size) == std::set{0});
    CHECK(drawn(kernel, &Setting::own_stream) == std::set{false});
    const KernelDeclaration vectorised = KernelDeclaration().aligned_to(16);
    CHECK(offsets(vectorised) == std::set{0, 4, 8, 12});
    CHECK(offsets(vectorised, 2) == std::set{0, 8, 16, 24});
    CHECK(offsets(vectorised, 8) == std::set{0, 2, 4, 6});
}

TEST_CASE("all outputs and each subset of them are drawn, where the kernel takes a mask") {
    using Masks = std::set<std::uint32_t>;
    constexpr std::uint32_t all = Setting::every_output;
    KernelDeclaration kernel;
    CHECK(drawn(kernel, &Setting::output_mask, pass_of({"y", "z", "s"})) == Masks{all});
    kernel.takes_output_mask = true;
    CHECK(drawn(kernel, &Setting::output_mask) == Masks{0, all});
    CHECK(drawn(kernel, &Setting::output_mask, pass_of({"y", "z"})) == Masks{0, 1, 2, all});
    CHECK(drawn(kernel, &Setting::output_mask, pass_of({"y", "z", "s"})) ==
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

}  // namespace gradverify
