// SPDX-License-Identifier: Apache-2.0
// Numbers for blocks with scales, and for results that are rounded to 8 bits.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "harness/numbers/element_bits.hpp"
#include "properties/data/drawn_numbers.hpp"

namespace gradverify {

TEST_CASE(
    "drawn blocks can be stored, have other scales than their neighbours, and meet both ends") {
    for (const BlockFormat& format : {mxfp8, mxfp8_e5m2, mxfp4, nvfp4}) {
        CAPTURE(format.name);
        double least = 1.0, most = 1.0;
        std::set<double> elements;
        int zero_blocks = 0;
        for (std::uint64_t seed = 0; seed < 200; ++seed) {
            auto array = filled<double>({3, 65});
            fill_blocks(array, SplitMix64(seed), format, false);
            const auto stored = encoded(format, array.data, 65);
            REQUIRE(stored);
            for (const double value : array.data) {
                if (value != 0.0) least = std::min(least, std::abs(value));
                most = std::max(most, std::abs(value));
            }
            elements.insert(stored->elements.begin(), stored->elements.end());
            for (std::size_t row = 0; row < 3; ++row)
                zero_blocks += array.data[65 * row + 64] == 0.0;
        }
        CHECK(elements.size() > std::size_t{3} << traits_of(format.element).exact_bits);
        CHECK(zero_blocks > 40);
        if (format.scale != DType::f8e8m0) continue;
        CHECK(least < 0x1p-126);
        CHECK(most > 0x1p+120);
        CHECK(most <= traits_of(DType::f32).largest);
    }
}

TEST_CASE("dense blocks have no zero, and no scale of their neighbour") {
    for (const BlockFormat& format : {mxfp8, nvfp4}) {
        auto ones = filled<double>({1, 64});
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            fill_blocks(ones, SplitMix64(seed), format, true);
            CHECK(std::ranges::count(ones.data, 0.0) == 0);
        }
    }
}

TEST_CASE("numbers near steps are ties of 8 bits, powers of two and what lies beside these") {
    auto array = filled<double>({400});
    fill_near_steps(array, SplitMix64(3), DType::f32, DType::f8e4m3);
    CHECK(are_numbers_of(DType::f32, array.data));
    int ties = 0, powers = 0, beside = 0;
    for (const double value : array.data) {
        int exponent = 0;
        const double size = 2.0 * std::abs(std::frexp(value, &exponent));
        const double steps = (size - 1.0) * 8.0;
        ties += steps - std::floor(steps) == 0.5;
        powers += size == 1.0;
        beside += size == 1.0 + 0x1p-23 || size == 2.0 - 0x1p-23;
    }
    CHECK(ties > 150);
    CHECK(powers > 40);
    CHECK(beside > 80);
    CHECK(ties + powers + beside == 400);
}

}  // namespace gradverify
