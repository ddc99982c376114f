// SPDX-License-Identifier: Apache-2.0
// The two 8-bit floats of cuda_fp8.h: conversions by integer operations, rounding to nearest, ties
// to even. E4M3 has no infinities, and one NaN of each sign; E5M2 is a half without its lower byte.
#pragma once
#pragma GCC system_header

#include <bit>
#include <cstdint>

namespace gradverify::simt::unit {

template <int fraction_bits, bool has_infinities>
struct EightBitFormat {
    static constexpr int bias = (1 << (6 - fraction_bits)) - 1;
    /// Bits of the magnitude: the first that are no number.
    static constexpr std::uint32_t infinity = has_infinities ? (31u << fraction_bits) : 0x7fu;
    static constexpr std::uint32_t largest = infinity - 1u;

    static constexpr float to_float(std::uint8_t bits) {
        const std::uint32_t sign = (bits & 0x80u) << 24, rest = bits & 0x7fu;
        if (rest > infinity || (!has_infinities && rest == infinity))
            return std::bit_cast<float>(0x7fffffffu);
        if (has_infinities && rest == infinity) return std::bit_cast<float>(sign | 0x7f800000u);
        const auto fraction = static_cast<float>(rest & ((1u << fraction_bits) - 1u));
        const int exponent = static_cast<int>(rest >> fraction_bits);
        const float significand =
            exponent > 0 ? fraction + static_cast<float>(1u << fraction_bits) : fraction;
        const float unit = power_of_two((exponent > 0 ? exponent : 1) - bias - fraction_bits);
        return sign != 0 ? -(significand * unit) : significand * unit;
    }

    /// A value beyond the largest number becomes that, or infinity (NaN in E4M3).
    static constexpr std::uint8_t from_double(double value, bool saturates) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 56) & 0x80u;
        const std::uint64_t magnitude = bits & 0x7fffffffffffffffu;
        if (magnitude > 0x7ff0000000000000u) return of_nan(bits, sign);
        const int exponent = static_cast<int>(magnitude >> 52) - 1023;
        // Numbers of the least exponent, and those below it, are equally far apart.
        const int least = 1 - bias, scale = exponent > least ? exponent : least;
        std::uint64_t rounded = largest + 1u;
        if (exponent <= bias + 1) {
            const std::uint64_t significand = (magnitude & 0xfffffffffffffu) | 0x10000000000000u;
            const int dropped = 52 - fraction_bits + (scale - exponent);
            rounded = exponent < -1022 ? 0 : to_nearest(significand, dropped);
            // The first digit of a normal number adds one to its exponent field.
            rounded += static_cast<std::uint64_t>(scale - least) << fraction_bits;
        }
        if (rounded > largest)
            return static_cast<std::uint8_t>(sign | (saturates ? largest : infinity));
        return static_cast<std::uint8_t>(sign | rounded);
    }

    /// Every NaN becomes the positive one of all ones.
    static constexpr std::uint8_t from_float(float value, bool saturates) {
        if (value != value) return 0x7fu;
        return from_double(static_cast<double>(value), saturates);
    }

  private:
    static constexpr float power_of_two(int exponent) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
    }
    /// A NaN keeps the digits that the format has.
    static constexpr std::uint8_t of_nan(std::uint64_t bits, std::uint32_t sign) {
        if (!has_infinities) return static_cast<std::uint8_t>(sign | 0x7fu);
        return static_cast<std::uint8_t>(sign | 0x7eu | (bits >> (52 - fraction_bits) & 3u));
    }
    static constexpr std::uint64_t to_nearest(std::uint64_t significand, int dropped) {
        if (dropped > 54) return 0;
        const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
        const std::uint64_t kept = significand >> dropped;
        const std::uint64_t rest = significand & ((half << 1) - 1u);
        return kept + (rest > half || (rest == half && (kept & 1u) != 0) ? 1u : 0u);
    }
};

using E4m3Format = EightBitFormat<3, false>;
using E5m2Format = EightBitFormat<2, true>;

}  // namespace gradverify::simt::unit
