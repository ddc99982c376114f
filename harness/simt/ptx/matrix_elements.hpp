// SPDX-License-Identifier: Apache-2.0
// The elements of matrices in registers and in shared memory: how many bits each has, and the value
// of its bits.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "gradverify_simt/forced.hpp"

namespace gradverify::simt::ptx {

inline int bits_of(MatrixElement element) {
    switch (element) {
        case MatrixElement::f64:
            return 64;
        case MatrixElement::tf32:
        case MatrixElement::f32:
        case MatrixElement::s32:
            return 32;
        case MatrixElement::f16:
        case MatrixElement::bf16:
            return 16;
        case MatrixElement::s4:
        case MatrixElement::u4:
            return 4;
        case MatrixElement::b1:
            return 1;
        default:
            return 8;
    }
}

/// A signed number of the lower bits.
inline int signed_of(std::uint32_t bits, int width) {
    return static_cast<int>(bits << (32 - width)) >> (32 - width);
}

/// A factor's value from its bits; a single bit is 0 or 1.
template <class T>
T factor(MatrixElement element, std::uint64_t bits) {
    const auto low = static_cast<std::uint32_t>(bits);
    if constexpr (std::is_same_v<T, double>) {
        return std::bit_cast<double>(bits);
    } else if constexpr (std::is_same_v<T, float>) {
        if (element == MatrixElement::f16)
            return unit::HalfFormat::to_float(static_cast<std::uint16_t>(low));
        if (element == MatrixElement::bf16)
            return unit::Bfloat16Format::to_float(static_cast<std::uint16_t>(low));
        if (element == MatrixElement::e4m3)
            return unit::E4m3Format::to_float(static_cast<std::uint8_t>(low));
        if (element == MatrixElement::e5m2)
            return unit::E5m2Format::to_float(static_cast<std::uint8_t>(low));
        const float value = std::bit_cast<float>(low);
        return value != value ? value : std::bit_cast<float>(low & 0xffffe000u);
    } else {
        const bool is_signed = element == MatrixElement::s8 || element == MatrixElement::s4;
        return is_signed ? signed_of(low, bits_of(element)) : static_cast<int>(low);
    }
}

/// Element `at` of the registers.
inline std::uint64_t element_of(const void* registers, int bits, int at) {
    if (bits == 64) return static_cast<const std::uint64_t*>(registers)[at];
    const auto first = static_cast<unsigned>(at * bits);  // no division: this is called often
    const std::uint32_t one = static_cast<const std::uint32_t*>(registers)[first / 32];
    const std::uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1u;
    return one >> first % 32 & mask;
}

}  // namespace gradverify::simt::ptx
