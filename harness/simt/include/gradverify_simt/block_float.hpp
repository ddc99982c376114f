// SPDX-License-Identifier: Apache-2.0
// What blocks with scales are stored as: scales of 8 bits, powers of two, and floats of 4 bits.
#pragma once
#pragma GCC system_header

#include "narrow_float.hpp"

namespace gradverify::simt::unit {

/// The scales of cuda_fp8.h: powers of two from 2^-127, and a NaN.
struct E8m0Format {
    static constexpr float to_float(std::uint8_t bits) {
        return unit::bit_cast<float>(bits == 0     ? 0x00400000u
                                     : bits == 255 ? 0x7fff0000u
                                                   : static_cast<std::uint32_t>(bits) << 23);
    }
    /// Of the magnitude, rounded up, or toward zero. A value beyond the largest number becomes
    /// that, or NaN.
    static constexpr std::uint8_t from_float(float value, bool saturates, bool rounds_up) {
        const std::uint32_t magnitude = unit::bit_cast<std::uint32_t>(value) & 0x7fffffffu;
        if (magnitude > 0x7f800000u) return 0xffu;
        // Half of the least normal number is the least scale.
        const bool is_more = magnitude > 0x00400000u && (magnitude & 0x007fffffu) != 0;
        const std::uint32_t exponent = (magnitude >> 23) + (rounds_up && is_more ? 1u : 0u);
        return static_cast<std::uint8_t>(saturates && exponent > 254u ? 254u : exponent);
    }
    static constexpr std::uint8_t from_double(double value, bool saturates, bool rounds_up) {
        return from_float(to_odd_float(value), saturates, rounds_up);
    }
};

/// The floats of cuda_fp4.h, in the lower half of a byte; those beyond the largest are that, and
/// NaN is, too.
struct E2m1Format {
    static constexpr float to_float(std::uint8_t bits) {
        constexpr float sizes[] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
        return (bits & 8u) != 0 ? -sizes[bits & 7u] : sizes[bits & 7u];
    }
    static constexpr std::uint8_t from_double(double value, Rounding rounding) {
        if (value != value) return 7u;
        const auto bits = unit::bit_cast<std::uint32_t>(to_odd_float(value));
        const std::uint32_t size = narrowed<1, 1, 7>(bits & 0x7fffffffu, false, rounding);
        return static_cast<std::uint8_t>((bits >> 28 & 8u) | (size > 7u ? 7u : size));
    }
};

}  // namespace gradverify::simt::unit
