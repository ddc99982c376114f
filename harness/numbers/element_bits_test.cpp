// SPDX-License-Identifier: Apache-2.0
#include "harness/numbers/element_bits.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "harness/base/random.hpp"
#include "harness/simt/include/gradverify_simt/eight_bit_float.hpp"
#include "harness/simt/include/gradverify_simt/narrow_float.hpp"

namespace {

using namespace gradverify;
namespace device = gradverify::simt::unit;

double value_of_bits(DType dtype, std::uint64_t bits) {
    std::byte bytes[8];
    std::memcpy(bytes, &bits, sizeof bytes);
    return value_of(dtype, bytes);
}

/// What the cpu device makes of the same bits, and of the same number.
double on_device(DType dtype, std::uint16_t bits) {
    return dtype == DType::f16 ? device::HalfFormat::to_float(bits)
                               : device::Bfloat16Format::to_float(bits);
}
std::uint16_t on_device(DType dtype, float value) {
    return dtype == DType::f16 ? device::HalfFormat::from_float(value)
                               : device::Bfloat16Format::from_float(value);
}

constexpr DType narrow_types[] = {DType::f16, DType::bf16};

}  // namespace

TEST_CASE("every pattern of 16 bits is the number that the cpu device takes it for, and back") {
    for (const DType dtype : narrow_types)
        for (std::uint32_t i = 0; i < 0x10000; ++i) {
            const auto bits = static_cast<std::uint16_t>(i);
            const double value = value_of_bits(dtype, bits);
            CAPTURE(i);
            if (std::isnan(value)) {
                REQUIRE(std::isnan(on_device(dtype, bits)));
                REQUIRE(std::isnan(value_of_bits(dtype, bits_of(dtype, value))));
                continue;
            }
            REQUIRE(value == on_device(dtype, bits));
            REQUIRE(std::signbit(value) == (bits >> 15 != 0));
            REQUIRE(bits_of(dtype, value) == bits);
            REQUIRE(rounded_to(dtype, value) == value);
        }
}

TEST_CASE("a float is rounded as the cpu device rounds it, whatever its size") {
    SplitMix64 random(1);
    for (const DType dtype : narrow_types)
        for (int i = 0; i < 200000; ++i) {
            // Of few digits every other time, so that ties come.
            auto bits = static_cast<std::uint32_t>(random.next());
            if (i % 2 == 0) bits &= dtype == DType::f16 ? 0xfffff000u : 0xffff8000u;
            // Near the types' limits as well.
            if (i % 3 == 0) bits = (bits & 0x87ffffffu) | (i % 2 == 0 ? 0x40000000u : 0x30000000u);
            const auto value = std::bit_cast<float>(bits);
            if (std::isnan(value)) continue;
            CAPTURE(value);
            REQUIRE(bits_of(dtype, static_cast<double>(value)) == on_device(dtype, value));
        }
}

namespace {

std::uint8_t on_device_of_8_bits(DType dtype, double value, bool saturates) {
    return dtype == DType::f8e4m3 ? device::E4m3Format::from_double(value, saturates)
                                  : device::E5m2Format::from_double(value, saturates);
}

}  // namespace

TEST_CASE("every pattern of 8 bits is the number that the cpu device takes it for, and back") {
    for (const DType dtype : {DType::f8e4m3, DType::f8e5m2})
        for (std::uint32_t i = 0; i < 256; ++i) {
            const auto bits = static_cast<std::uint8_t>(i);
            const double value = value_of_bits(dtype, bits);
            const double there = dtype == DType::f8e4m3 ? device::E4m3Format::to_float(bits)
                                                        : device::E5m2Format::to_float(bits);
            CAPTURE(traits_of(dtype).name);
            CAPTURE(i);
            REQUIRE(std::isnan(value) == std::isnan(there));
            if (std::isnan(value)) {
                REQUIRE(std::isnan(value_of_bits(dtype, bits_of(dtype, value))));
                continue;
            }
            REQUIRE(value == there);
            REQUIRE(std::signbit(value) == (i >> 7 != 0));
            REQUIRE(bits_of(dtype, value) == bits);
            REQUIRE(rounded_to(dtype, value) == value);
        }
}

TEST_CASE("a number is rounded to 8 bits as the cpu device rounds it, whatever its size") {
    SplitMix64 random(2);
    for (const DType dtype : {DType::f8e4m3, DType::f8e5m2})
        for (int i = 0; i < 200000; ++i) {
            // Of few digits every other time, so that ties come; of all exponents that matter.
            std::uint64_t bits = random.next();
            if (i % 2 == 0) bits &= 0xffff000000000000u;
            if (i % 4 == 2) bits += random.below(3) - 1;
            bits = (bits & 0x800fffffffffffffu) | (1023 - 20 + random.below(40)) << 52;
            const auto value = std::bit_cast<double>(bits);
            CAPTURE(value);
            const auto got = static_cast<std::uint8_t>(bits_of(dtype, value));
            REQUIRE(got == on_device_of_8_bits(dtype, value, false));
            if (std::abs(value) <= traits_of(dtype).largest)
                REQUIRE(got == on_device_of_8_bits(dtype, value, true));
        }
}

TEST_CASE("rounding to 8 bits: ties, numbers that are not normal, and beyond the largest") {
    CHECK(rounded_to(DType::f8e4m3, 17.0) == 16.0);
    CHECK(rounded_to(DType::f8e4m3, 19.0) == 20.0);
    CHECK(rounded_to(DType::f8e4m3, 0x1p-10) == 0.0);
    CHECK(rounded_to(DType::f8e4m3, 0x1.8p-10) == 0x1p-9);
    CHECK(rounded_to(DType::f8e4m3, 464.0) == 448.0);
    CHECK(std::isnan(rounded_to(DType::f8e4m3, 464.5)));
    CHECK(std::isnan(rounded_to(DType::f8e4m3, -INFINITY)));
    CHECK(bits_of(DType::f8e4m3, 1e6) == 0x7f);
    CHECK(bits_of(DType::f8e4m3, NAN) == 0x7f);
    CHECK(rounded_to(DType::f8e5m2, 9.0) == 8.0);
    CHECK(rounded_to(DType::f8e5m2, 11.0) == 12.0);
    CHECK(rounded_to(DType::f8e5m2, 0x1.8p-17) == 0x1p-16);
    CHECK(rounded_to(DType::f8e5m2, 61439.0) == 57344.0);
    CHECK(rounded_to(DType::f8e5m2, 61440.0) == INFINITY);
    CHECK(bits_of(DType::f8e5m2, -1e6) == 0xfc);
    CHECK(bits_of(DType::f8e5m2, NAN) == 0x7e);
}

TEST_CASE("beyond the largest number of 8 bits nothing is said, and up to it all is") {
    CHECK(error_once_stored(DType::f8e4m3, 448.0, 0.0) == 0.0);
    CHECK(error_once_stored(DType::f8e4m3, 447.0, 0.5) == 1.0);
    // Some conversions give NaN there, others 448.
    CHECK(error_once_stored(DType::f8e4m3, 449.0, 0.0) == INFINITY);
    CHECK(error_once_stored(DType::f8e4m3, -448.0, 0.5) == INFINITY);
    CHECK(error_once_stored(DType::f8e4m3, -1e6, 0.0) == INFINITY);
    CHECK(error_once_stored(DType::f8e5m2, 57345.0, 0.0) == INFINITY);
    CHECK(error_once_stored(DType::f8e5m2, 57000.0, 0.0) == 344.0);
    // Conversions that saturate do so with infinities, too.
    CHECK(error_once_stored(DType::f8e5m2, INFINITY, 0.0) == INFINITY);
    CHECK(error_once_stored(DType::f8e4m3, -INFINITY, 0.0) == INFINITY);
    CHECK(error_once_stored(DType::f8e5m2, NAN, 0.0) == 0.0);
    CHECK(error_once_stored(DType::f16, INFINITY, 0.0) == 0.0);
    // The one that the other format has: 57344 is no limit of a half.
    CHECK(error_once_stored(DType::f16, 57345.0, 0.0) == 1.0);
}

TEST_CASE("rounding goes to the nearest, ties to even, and overflows from half a unit on") {
    CHECK(rounded_to(DType::f16, 2049.0) == 2048.0);
    CHECK(rounded_to(DType::f16, 2051.0) == 2052.0);
    // Twice rounded, by way of a float, it would be 2050.
    CHECK(rounded_to(DType::f16, 2049.0 - 0x1p-40) == 2048.0);
    CHECK(rounded_to(DType::f16, 2049.0 + 0x1p-40) == 2050.0);
    CHECK(rounded_to(DType::f16, 65519.99) == 65504.0);
    CHECK(rounded_to(DType::f16, 65520.0) == INFINITY);
    CHECK(rounded_to(DType::f16, -1e300) == -INFINITY);
    CHECK(rounded_to(DType::f16, 0x1p-25) == 0.0);
    CHECK(rounded_to(DType::f16, 0x1.8p-25) == 0x1p-24);
    CHECK(rounded_to(DType::f16, 0x1.ffdp-15) == 0x1p-14);
    CHECK(rounded_to(DType::f16, 0x1.ff4p-15) == 0x1.ff0p-15);
    CHECK(std::signbit(rounded_to(DType::f16, -0x1p-30)));
    CHECK(rounded_to(DType::bf16, 257.0) == 256.0);
    CHECK(rounded_to(DType::bf16, 259.0) == 260.0);
    CHECK(rounded_to(DType::bf16, 0x1p-134) == 0.0);
    CHECK(rounded_to(DType::bf16, 0x1.8p-134) == 0x1p-133);
    CHECK(rounded_to(DType::bf16, 0x1.ffp+127) == INFINITY);
    CHECK(rounded_to(DType::f32, 0x1.000001p+0) == 1.0);
    CHECK(rounded_to(DType::f64, 0.1) == 0.1);
    CHECK(std::isnan(rounded_to(DType::f16, NAN)));
}

TEST_CASE("a number of any other type has the machine's own bits") {
    CHECK(bits_of(DType::f32, 1.5) == 0x3fc00000u);
    CHECK(bits_of(DType::f64, 1.5) == 0x3ff8000000000000u);
    CHECK(bits_of(DType::i32, -2.0) == 0xfffffffeu);
    CHECK(bits_of(DType::i64, -2.0) == 0xfffffffffffffffeu);
    for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64})
        for (const double value : {0.0, 7.0, -2.0})
            CHECK(value_of_bits(dtype, bits_of(dtype, value)) == value);
    CHECK(bits_of(DType::f16, NAN) == 0x7e00u);
    CHECK(bits_of(DType::bf16, NAN) == 0x7fc0u);
}

TEST_CASE("an array holds numbers of a type or not") {
    const double values[] = {1.0, 257.0};
    CHECK(are_numbers_of(DType::f16, values));
    CHECK_FALSE(are_numbers_of(DType::bf16, values));
}

TEST_CASE("the next number of a type is a neighbour") {
    for (const DType dtype :
         {DType::f8e4m3, DType::f8e5m2, DType::f16, DType::bf16, DType::f32, DType::f64}) {
        const double ulp = 2.0 * traits_of(dtype).unit_roundoff;
        CHECK(next_number_of(dtype, 1.0, 2.0) == 1.0 + ulp);
        CHECK(next_number_of(dtype, 1.0, 0.0) == 1.0 - ulp / 2.0);
        CHECK(next_number_of(dtype, -1.75, -2.0) == -1.75 - ulp);
        const double least = ulp * traits_of(dtype).smallest_normal;
        CHECK(next_number_of(dtype, 0.0, INFINITY) == least);
        CHECK(next_number_of(dtype, least, -INFINITY) == 0.0);
    }
}

TEST_CASE("what was off before it was stored is off by the farther of its ends") {
    // Exact before: by its own rounding alone, and by none where it is a number of the type.
    CHECK(error_once_stored(DType::f16, 1.0, 0.0) == 0.0);
    CHECK(error_once_stored(DType::f16, 1.0 + 0x1p-12, 0.0) == 0x1p-12);
    CHECK(error_once_stored(DType::f16, 1.0 + 0x1p-11, 0.0) == 0x1p-11);
    // A little beyond the tie, and the next number is possible too.
    CHECK(error_once_stored(DType::f16, 1.0 + 0x1p-11 - 0x1p-20, 0x1p-19) == 0x1p-11 + 0x1p-20);
    // No farther than half the gap, where the interval ends before the next tie.
    CHECK(error_once_stored(DType::bf16, 3.0, 0x1p-8) == 0.0);
    CHECK(error_once_stored(DType::f16, 0x1p-24, 0x1p-26) == 0.0);
    CHECK(error_once_stored(DType::f16, 0x1.8p-25, 0.0) == 0x1p-26);
    // The lower end is the farther one.
    CHECK(error_once_stored(DType::f16, 1.0 + 0x1p-11 + 0x1p-20, 0x1p-19) == 0x1p-11 + 0x1p-20);
    CHECK(error_once_stored(DType::f16, 65519.0, 2.0) == INFINITY);
    CHECK(error_once_stored(DType::f16, -65519.0, 2.0) == INFINITY);
}

TEST_CASE("what is infinite or no number, and exact, stays so when it is stored") {
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
        CHECK(error_once_stored(dtype, INFINITY, 0.0) == 0.0);
        CHECK(error_once_stored(dtype, NAN, 0.0) == 0.0);
        CHECK(error_once_stored(dtype, 0x1p+200, 0.0) == INFINITY);
        // And only what is exact.
        CHECK(error_once_stored(dtype, INFINITY, 1.0) == INFINITY);
        CHECK(error_once_stored(dtype, NAN, 1.0) == INFINITY);
    }
}
