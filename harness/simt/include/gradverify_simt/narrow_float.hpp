// SPDX-License-Identifier: Apache-2.0
// Floats of 16 and of 8 bits, as not every host compiler has them. A float has more than twice
// their digits, so a sum, product, quotient or root in float is correctly rounded to them (Figueroa
// 1995); a fused multiply-add is if it is rounded to odd first (Boldo, Melquiond 2008).
#pragma once
#pragma GCC system_header

#include <cmath>
#include <cstdint>

#include "language.hpp"  // also from outside of the folder of CUDA's names

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

/// The magnitude of a float that is no NaN, as bits of a format with the `largest` number; beyond
/// that, as if it were more than half a unit larger.
template <int fraction_bits, int bias, std::uint32_t largest>
constexpr std::uint32_t narrowed(std::uint32_t magnitude, bool negative, Rounding rounding) {
    constexpr int dropped = 23 - fraction_bits;
    const int exponent = static_cast<int>(magnitude >> 23) - 127, least = 1 - bias;
    if (exponent < least) {
        const std::uint32_t significand = magnitude == 0 ? 0 : (magnitude & 0x7fffffu) | 0x800000u;
        const int lost = dropped + (least - exponent), rest_bits = lost < 25 ? lost : 25;
        return round_bits(significand >> rest_bits, significand & ((1u << rest_bits) - 1u),
                          rest_bits, negative, rounding);
    }
    const std::uint32_t kept = (magnitude >> dropped) - ((127u - bias) << fraction_bits);
    if (kept > largest) return round_bits(largest, 3, 2, negative, rounding);
    return round_bits(kept, magnitude & ((1u << dropped) - 1u), dropped, negative, rounding);
}

struct HalfFormat {
    static constexpr std::uint16_t nan = 0x7fff;
    static constexpr float to_float(std::uint16_t half) {
        const std::uint32_t sign = (half & 0x8000u) << 16;
        const std::uint32_t rest = half & 0x7fffu;
        // Scaled by 2^112, exactly, subnormal numbers too. No branch, so that loops are vectorised.
        const float value = unit::bit_cast<float>(rest << 13) * 0x1p112f;
        const std::uint32_t of_infinite = rest >= 0x7c00u ? 0x7f800000u : 0u;
        return unit::bit_cast<float>(unit::bit_cast<std::uint32_t>(value) | of_infinite | sign);
    }
    static constexpr std::uint16_t from_float(float value, Rounding rounding = Rounding::nearest) {
        const auto bits = unit::bit_cast<std::uint32_t>(value);
        const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
        if (magnitude > 0x7f800000u) return nan;
        if (magnitude == 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
        return static_cast<std::uint16_t>(sign |
                                          narrowed<10, 15, 0x7bff>(magnitude, sign != 0, rounding));
    }
};

struct Bfloat16Format {
    static constexpr std::uint16_t nan = 0x7fff;
    static constexpr float to_float(std::uint16_t bits) {
        return unit::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    }
    static constexpr std::uint16_t from_float(float value, Rounding rounding = Rounding::nearest) {
        const auto bits = unit::bit_cast<std::uint32_t>(value);
        if ((bits & 0x7fffffffu) > 0x7f800000u) return nan;
        return static_cast<std::uint16_t>(
            round_bits(bits >> 16, bits & 0xffffu, 16, bits >> 31 != 0, rounding));
    }
};

/// `value` rounded to odd: rounded again to half or bfloat16 it gives what `value` itself would.
constexpr float to_odd_float(double value) {
    const auto rounded = static_cast<float>(value);
    const double back = rounded;
    const auto bits = unit::bit_cast<std::uint32_t>(rounded);
    if (!(back != value) || value != value || (bits & 1u) != 0) return rounded;
    const bool is_short = (back < 0 ? -back : back) < (value < 0 ? -value : value);
    // A number that underflowed keeps its sign, which its bits hold.
    return unit::bit_cast<float>(is_short ? bits + 1u : bits - 1u);
}

/// a * b + c of floats with few digits, rounded to odd.
inline float fused_to_odd(float a, float b, float c) {
    const double product = static_cast<double>(a) * b;  // exact
    const double sum = product + c;
    if (!std::isfinite(sum)) return static_cast<float>(sum);
    const double of_c = sum - product;
    const double lost = (product - (sum - of_c)) + (c - of_c);
    auto bits = unit::bit_cast<std::uint64_t>(sum);
    if (lost != 0 && (bits & 1u) == 0) bits += (lost > 0) == (sum > 0) ? 1u : ~std::uint64_t{0};
    return to_odd_float(unit::bit_cast<double>(bits));
}

/// The 8-bit floats of cuda_fp8.h, rounded to nearest, ties to even. E4M3 has no infinities, and
/// one NaN of each sign; E5M2 is a half without its lower byte.
template <int fraction_bits, bool has_infinities>
struct EightBitFormat {
    static constexpr int bias = (1 << (6 - fraction_bits)) - 1;
    /// The magnitude's bits. Next comes infinity, or NaN.
    static constexpr std::uint32_t largest = has_infinities ? (31u << fraction_bits) - 1u : 0x7eu;

    static constexpr float to_float(std::uint8_t bits) {
        const std::uint32_t rest = bits & 0x7fu;
        if (rest > largest + has_infinities) return unit::bit_cast<float>(0x7fffffffu);
        // The float with these exponent and fraction bits is too small by the biases' difference.
        constexpr float unit = unit::bit_cast<float>((254u - bias) << 23);
        const float size =
            rest > largest ? INFINITY : unit::bit_cast<float>(rest << (23 - fraction_bits)) * unit;
        return (bits & 0x80u) != 0 ? -size : size;
    }

    /// A value beyond the largest number becomes that, or infinity (NaN in E4M3).
    static constexpr std::uint8_t from_double(double value, bool saturates) {
        const auto bits = unit::bit_cast<std::uint64_t>(value);
        const std::uint32_t sign = static_cast<std::uint32_t>(bits >> 56) & 0x80u;
        if (value != value) {
            // It keeps the digits that the format has.
            const std::uint32_t digits =
                has_infinities ? static_cast<std::uint32_t>(bits >> (52 - fraction_bits)) & 3u : 1u;
            return static_cast<std::uint8_t>(sign | 0x7eu | digits);
        }
        const auto magnitude = unit::bit_cast<std::uint32_t>(to_odd_float(value)) & 0x7fffffffu;
        const std::uint32_t rounded =
            narrowed<fraction_bits, bias, largest>(magnitude, false, Rounding::nearest);
        return static_cast<std::uint8_t>(sign |
                                         (saturates && rounded > largest ? largest : rounded));
    }

    /// Every NaN becomes the positive one of all ones.
    static constexpr std::uint8_t from_float(float value, bool saturates) {
        if (value != value) return 0x7fu;
        return from_double(static_cast<double>(value), saturates);
    }
};

using E4m3Format = EightBitFormat<3, false>;
using E5m2Format = EightBitFormat<2, true>;

}  // namespace gradverify::simt::unit
