// SPDX-License-Identifier: Apache-2.0
// Half and bfloat16 as 16 bits, as not every host compiler has them. A float has more than twice
// their digits, so a sum, product, quotient or root in float is correctly rounded to them (Figueroa
// 1995); a fused multiply-add is if it is rounded to odd first (Boldo, Melquiond 2008).
#pragma once
#pragma GCC system_header

#include <bit>
#include <cmath>
#include <cstdint>

namespace gradverify::simt::unit {

enum class Rounding { nearest, toward_zero, up, down };

/// The bits of a magnitude, rounded by the fraction `rest` / 2^`rest_bits` that they lack.
constexpr std::uint32_t round_bits(std::uint32_t bits, std::uint32_t rest, int rest_bits,
                                   bool negative, Rounding rounding) {
    if (rest == 0) return bits;
    const std::uint32_t half = 1u << (rest_bits - 1);
    const bool grows = rounding == Rounding::nearest
                           ? rest > half || (rest == half && (bits & 1u) != 0)
                           : rounding == (negative ? Rounding::down : Rounding::up);
    return grows ? bits + 1u : bits;
}

struct HalfFormat {
    static constexpr std::uint16_t nan = 0x7fff;
    static constexpr float to_float(std::uint16_t half) {
        const std::uint32_t sign = (half & 0x8000u) << 16;
        const std::uint32_t rest = half & 0x7fffu;
        // Scaled by 2^112, exactly, subnormal numbers too. No branch, so that loops are vectorised.
        const float value = std::bit_cast<float>(rest << 13) * 0x1p112f;
        const std::uint32_t of_infinite = rest >= 0x7c00u ? 0x7f800000u : 0u;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | of_infinite | sign);
    }
    static constexpr std::uint16_t from_float(float value, Rounding rounding = Rounding::nearest) {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
        if (magnitude > 0x7f800000u) return nan;
        if (magnitude == 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
        const int exponent = static_cast<int>(magnitude >> 23) - 127;
        std::uint32_t half = 0, rest = 0;
        int rest_bits = 13;
        if (exponent > 15) {
            half = 0x7bffu, rest = 3, rest_bits = 2;  // more than half a unit above the largest
        } else if (exponent >= -14) {
            half = (magnitude >> 13) - ((127 - 15) << 10);
            rest = magnitude & 0x1fffu;
        } else {
            const std::uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
            rest_bits = -1 - exponent < 25 ? -1 - exponent : 25;
            half = rest_bits < 25 ? significand >> rest_bits : 0;
            rest = rest_bits < 25 ? significand & ((1u << rest_bits) - 1u) : magnitude != 0;
        }
        half = round_bits(half, rest, rest_bits, sign != 0, rounding);
        return static_cast<std::uint16_t>(sign | half);
    }
};

struct Bfloat16Format {
    static constexpr std::uint16_t nan = 0x7fff;
    static constexpr float to_float(std::uint16_t bits) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    }
    static constexpr std::uint16_t from_float(float value, Rounding rounding = Rounding::nearest) {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        if ((bits & 0x7fffffffu) > 0x7f800000u) return nan;
        return static_cast<std::uint16_t>(
            round_bits(bits >> 16, bits & 0xffffu, 16, bits >> 31 != 0, rounding));
    }
};

/// `value` rounded to odd: rounded again to half or bfloat16 it gives what `value` itself would.
constexpr float to_odd_float(double value) {
    const auto rounded = static_cast<float>(value);
    const double back = rounded;
    const auto bits = std::bit_cast<std::uint32_t>(rounded);
    if (!(back != value) || value != value || (bits & 1u) != 0) return rounded;
    const bool is_short = (back < 0 ? -back : back) < (value < 0 ? -value : value);
    // A number that underflowed keeps its sign, which its bits hold.
    return std::bit_cast<float>(is_short ? bits + 1u : bits - 1u);
}

/// a * b + c of floats with few digits, rounded to odd.
inline float fused_to_odd(float a, float b, float c) {
    const double product = static_cast<double>(a) * b;  // exact
    const double sum = product + c;
    if (!std::isfinite(sum)) return static_cast<float>(sum);
    const double of_c = sum - product;
    const double lost = (product - (sum - of_c)) + (c - of_c);
    auto bits = std::bit_cast<std::uint64_t>(sum);
    if (lost != 0 && (bits & 1u) == 0) bits += (lost > 0) == (sum > 0) ? 1u : ~std::uint64_t{0};
    return to_odd_float(std::bit_cast<double>(bits));
}

}  // namespace gradverify::simt::unit
