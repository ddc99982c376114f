// SPDX-License-Identifier: Apache-2.0
// The seed of a case depends on its four keys, and never changes.
#include "properties/data/seeds.hpp"

#include <doctest/doctest.h>

#include <set>

using gradverify::draw_seed;

TEST_CASE("the seed of a case differs as soon as one of its four keys differs") {
    std::set<std::uint64_t> seeds;
    int keys = 0;
    // Letters that move from the kernel's name to the property's make another key.
    for (const std::uint64_t seed : {0u, 1u, 2u})
        for (const char* kernel : {"ab", "a", ""})
            for (const char* property : {"c", "bc", "a", ""})
                for (std::int64_t index = 0; index < 1000; ++index, ++keys)
                    seeds.insert(draw_seed({seed, kernel, property, index}));
    CHECK(static_cast<int>(seeds.size()) == keys);
}

TEST_CASE("the seed of a case never changes, so that an old run can be repeated") {
    CHECK(draw_seed({1, "conv.forward/naive", "matches_reference", 7}) == 9847457930024047071u);
    CHECK(gradverify::mix_seed(1, "data") == 15688076610871342501u);
}
