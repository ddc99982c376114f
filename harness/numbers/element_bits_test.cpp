// SPDX-License-Identifier: Apache-2.0
#include "harness/numbers/element_bits.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "harness/base/random.hpp"
#include "harness/simt/include/gradverify_simt/block_float.hpp"

namespace {

using namespace gradverify;
namespace device = gradverify::simt::unit;

double value_of_bits(DType dtype, std::uint64_t bits) {
    std::byte bytes[8];
    std::memcpy(bytes, &bits, sizeof bytes);
    return value_of(dtype, bytes);
}

/// A type of few bits, and what the cpu device makes of its bits and of a number.
struct NarrowType {
    DType dtype;
    double (*number)(std::uint32_t bits);
    std::uint32_t (*bits)(double value, bool saturates);

    std::uint32_t bit_count() const {
        return static_cast<std::uint32_t>(8 * traits_of(dtype).bytes);
    }
};

template <class Format>
NarrowType made_by(DType dtype) {
    return {dtype, [](std::uint32_t bits) { return static_cast<double>(Format::to_float(bits)); },
            [](double value, bool saturates) -> std::uint32_t {
                if constexpr (requires { Format::from_double(value, saturates); })
                    return Format::from_double(value, saturates);
                else
                    return Format::from_float(static_cast<float>(value));
            }};
}

const NarrowType narrow_types[] = {
    made_by<device::HalfFormat>(DType::f16), made_by<device::Bfloat16Format>(DType::bf16),
    made_by<device::E4m3Format>(DType::f8e4m3), made_by<device::E5m2Format>(DType::f8e5m2)};

}  // namespace

TEST_CASE("every pattern of few bits is the number that the cpu device takes it for, and back") {
    for (const NarrowType& type : narrow_types)
        for (std::uint32_t bits = 0; bits < 1u << type.bit_count(); ++bits) {
            const double value = value_of_bits(type.dtype, bits);
            INFO(traits_of(type.dtype).name, " ", bits);
            REQUIRE(std::isnan(value) == std::isnan(type.number(bits)));
            if (std::isnan(value)) {
                REQUIRE(std::isnan(value_of_bits(type.dtype, bits_of(type.dtype, value))));
                continue;
            }
            REQUIRE(value == type.number(bits));
            REQUIRE(std::signbit(value) == (bits >> (type.bit_count() - 1) != 0));
            REQUIRE(bits_of(type.dtype, value) == bits);
            REQUIRE(rounded_to(type.dtype, value) == value);
        }
}

TEST_CASE("a number is rounded to few bits as the cpu device rounds it, whatever its size") {
    SplitMix64 random(2);
    for (const NarrowType& type : narrow_types)
        for (int i = 0; i < 200000; ++i) {
            std::uint64_t bits = random.next();
            // Every other number has few digits, so that ties come; all exponents that matter do.
            if (i % 2 == 0) bits &= 0xffff000000000000u;
            if (i % 4 == 2) bits += random.below(3) - 1;
            const std::uint64_t exponents = type.dtype == DType::bf16 ? 280 : 50;
            bits = (bits & 0x800fffffffffffffu) | (1023 - exponents / 2 + random.below(exponents))
                                                      << 52;
            // The cpu device rounds floats to 16 bits.
            auto value = std::bit_cast<double>(bits);
            if (type.bit_count() == 16) value = static_cast<double>(static_cast<float>(value));
            CAPTURE(value);
            REQUIRE(bits_of(type.dtype, value) == type.bits(value, false));
            if (std::abs(value) <= traits_of(type.dtype).largest)
                REQUIRE(bits_of(type.dtype, value) == type.bits(value, true));
        }
}

TEST_CASE("scales are powers of two, and numbers of 4 bits CUDA's, as the cpu device has them") {
    for (std::uint32_t bits = 0; bits < 256; ++bits) {
        const auto byte = static_cast<std::uint8_t>(bits);
        const double scale = value_of_bits(DType::f8e8m0, bits);
        if (bits == 255) {
            CHECK(std::isnan(scale));
        } else {
            CHECK(scale == static_cast<double>(device::E8m0Format::to_float(byte)));
            CHECK(scale == std::ldexp(1.0, static_cast<int>(bits) - 127));
        }
        CHECK(bits_of(DType::f8e8m0, scale) == bits);
    }
    for (std::uint32_t bits = 0; bits < 16; ++bits) {
        const double number = value_of_bits(DType::f4e2m1, bits);
        CHECK(number ==
              static_cast<double>(device::E2m1Format::to_float(static_cast<std::uint8_t>(bits))));
        CHECK(std::signbit(number) == (bits >= 8));
        CHECK(bits_of(DType::f4e2m1, number) == bits);
        // The upper half of a byte is another number.
        CHECK(value_of_bits(DType::f4e2m1, bits | 0xf0) == number);
    }
    CHECK(rounded_to(DType::f8e8m0, 0.0) == 0x1p-127);
    CHECK(std::isnan(rounded_to(DType::f8e8m0, -1.0)));
    CHECK(std::isnan(rounded_to(DType::f8e8m0, 0x1.9p+127)));
    CHECK(rounded_to(DType::f8e8m0, 3.5) == 4.0);
    CHECK(std::isnan(rounded_to(DType::f4e2m1, 1e9)));
    const double ties[][2] = {{0.25, 0.0}, {0.75, 1.0}, {1.25, 1.0}, {1.75, 2.0},
                              {2.5, 2.0},  {3.5, 4.0},  {5.0, 4.0},  {-5.0, -4.0}};
    for (const auto& [value, even] : ties) {
        CHECK(rounded_to(DType::f4e2m1, value) == even);
        CHECK(device::E2m1Format::to_float(device::E2m1Format::from_double(
                  value, device::Rounding::nearest)) == static_cast<float>(even));
    }
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
    // The one that the other format has: 57344 is no limit of a half.
    CHECK(error_once_stored(DType::f16, 57345.0, 0.0) == 1.0);
    // Halves are rounded to the largest number from beyond it.
    CHECK(error_once_stored(DType::f16, 65505.0, 0.0) == 1.0);
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
    // Integer types leave any value as it is.
    for (const DType dtype : {DType::i32, DType::i64})
        for (const double value : {0.1, -1e300}) CHECK(rounded_to(dtype, value) == value);
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
    for (const NarrowType& type : narrow_types) {
        const std::uint64_t largest = bits_of(type.dtype, traits_of(type.dtype).largest);
        // Some numbers of 16 bits are enough: each exponent has many fractions, of both parities.
        for (std::uint64_t bits = 0; bits < largest; bits += type.bit_count() == 8 ? 1 : 13) {
            const double value = value_of_bits(type.dtype, bits);
            const double next = value_of_bits(type.dtype, bits + 1);
            INFO(traits_of(type.dtype).name, " ", bits);
            REQUIRE(next_number_of(type.dtype, value, INFINITY) == next);
            REQUIRE(next_number_of(type.dtype, next, -INFINITY) == value);
            REQUIRE(next_number_of(type.dtype, -value, -INFINITY) == -next);
        }
    }
}

TEST_CASE("tensor cores multiply numbers of ten binary places as they are") {
    for (const double value : {1.0 + 0x1p-10, -0x1.ffcp+100, 0.0, 0.0 + INFINITY, 0.0 + NAN})
        CHECK(is_number_of_tf32(value));
    for (const double value : {1.0 + 0x1p-11, 1.0 + 0x1p-40, -1.0 - 0x1p-23})
        CHECK_FALSE(is_number_of_tf32(value));
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

TEST_CASE("rounding takes no more from a number than is said of its size, and about as much") {
    for (const DType dtype : {DType::f8e4m3, DType::f8e5m2, DType::f16, DType::bf16, DType::f32}) {
        const DTypeTraits traits = traits_of(dtype);
        SplitMix64 random(static_cast<std::uint64_t>(traits.exact_bits));
        for (int i = 0; i < 4000; ++i) {
            const double scale = std::ldexp(traits.smallest_normal, static_cast<int>(i % 12) - 8);
            const double value =
                scale * (1.0 + static_cast<double>(random.below(1 << 30)) * 0x1p-30);
            const double most = error_of_rounding(dtype, value);
            CHECK(std::abs(rounded_to(dtype, value) - value) <= most);
            CHECK(most <= traits.unit_roundoff * std::max(value, traits.smallest_normal));
        }
        const double middle = 1.0 + traits.unit_roundoff;
        CHECK(error_of_rounding(dtype, middle) ==
              doctest::Approx(std::abs(rounded_to(dtype, middle) - middle)).epsilon(0.2));
        CHECK(std::isfinite(error_of_rounding(dtype, traits.largest)));
        CHECK(error_of_rounding(dtype, 2.0 * traits.largest) == INFINITY);
    }
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
