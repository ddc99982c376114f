// SPDX-License-Identifier: Apache-2.0
#include "harness/numbers/block_scaled.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "harness/base/random.hpp"
#include "harness/numbers/element_bits.hpp"

namespace {

using namespace gradverify;

constexpr BlockFormat formats[] = {mxfp8, mxfp8_e5m2, mxfp4, nvfp4};

/// Numbers of every size, from 2^-20 to 2^20.
std::vector<double> numbers(std::size_t count, std::uint64_t seed) {
    SplitMix64 random(seed);
    std::vector<double> all(count);
    for (double& one : all)
        one = std::ldexp(static_cast<double>(random.between(-1000, 1000)),
                         static_cast<int>(random.between(-20, 10)));
    return all;
}

}  // namespace

TEST_CASE("rounded blocks are stored, and their elements times their scales are the numbers") {
    for (const BlockFormat& format : formats)
        for (const std::int64_t row : {1, 15, 16, 31, 32, 33, 100}) {
            CAPTURE(format.name);
            CAPTURE(row);
            auto values = numbers(static_cast<std::size_t>(3 * row), 7);
            round_blocks(format, values, row);
            const auto stored = encoded(format, values, row);
            REQUIRE(stored);
            const std::int64_t blocks = format.blocks_in(row);
            CHECK(std::ssize(stored->scales) == 3 * blocks);
            CHECK(are_numbers_of(format.element, stored->elements));
            CHECK(are_numbers_of(format.scale, stored->scales));
            for (std::int64_t i = 0; i < 3 * row; ++i) {
                const auto block = i / row * blocks + i % row / format.length;
                CHECK(stored->elements[static_cast<std::size_t>(i)] *
                          stored->scales[static_cast<std::size_t>(block)] ==
                      values[static_cast<std::size_t>(i)]);
            }
        }
}

TEST_CASE("small integers, and twice as large ones, are stored as they are") {
    for (const BlockFormat& format : formats) {
        const int largest = 1 << traits_of(format.element).exact_bits;
        std::vector<double> values;
        for (int i = -largest; i <= largest; ++i) values.push_back(i);
        CAPTURE(format.name);
        CHECK(encoded(format, values, std::ssize(values)));
        // Half of a unit more is beyond a block's digits.
        values.front() = largest + 0.5;
        CHECK_FALSE(encoded(format, values, std::ssize(values)));
    }
}

TEST_CASE("blocks are rounded as the MX specification rounds them") {
    // The largest magnitude is 2^3 to 2^4: the scale is 2^(3 - 8), and what is beyond 448 is that.
    std::vector<double> eight{15.5, 8.0, -0.3, 0x1p-20};
    round_blocks(mxfp8, eight, 4);
    CHECK(eight == std::vector{14.0, 8.0, -0.3125, 0.0});
    // Ties go to even elements: 5 is halfway between 4 and 6.
    std::vector<double> four{5.0, -2.5, 0.25, 7.0};
    round_blocks(mxfp4, four, 4);
    CHECK(four == std::vector{4.0, -2.0, 0.0, 6.0});
    std::vector<double> zeros(40);
    round_blocks(mxfp4, zeros, 40);
    CHECK(zeros == std::vector<double>(40));
}

TEST_CASE("blocks of equal numbers have different scales, the first one the usual") {
    const std::vector<double> ones(32 * 6, 1.0);
    const auto stored = encoded(mxfp8, ones, std::ssize(ones));
    REQUIRE(stored);
    CHECK(stored->scales.front() == 0x1p-8);
    CHECK(std::set(stored->scales.begin(), stored->scales.end()).size() == 6);
    const auto zero = encoded(mxfp8, std::vector<double>(96), 96);
    CHECK(zero.value().scales == std::vector{1.0, 0x1p-127, 0x1p+127});
}

TEST_CASE(
    "two elements of 4 bits lie in a byte, the first in its lower half, rows in whole bytes") {
    CHECK(packed(std::vector{0.5, -6.0, 1.0, 2.0, 3.0, -0.5}, 3) ==
          std::vector<double>{0xf1, 0x72, 0x54, 0x79});
    CHECK(packed({}, 4).empty());
}

TEST_CASE("what no scale holds is not stored") {
    CHECK_FALSE(encoded(mxfp4, std::vector{1.0, 0.3}, 2));
    CHECK_FALSE(encoded(mxfp8, std::vector{1.0, std::nan("")}, 2));
    CHECK_FALSE(encoded(nvfp4, std::vector{0x1p+60}, 1));
    CHECK(encoded(mxfp4, std::vector{0x1p+60, -0x1.8p+60}, 2));
    CHECK(encoded(mxfp8, std::vector<double>(), 0));
}
