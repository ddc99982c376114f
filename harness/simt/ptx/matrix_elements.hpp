// SPDX-License-Identifier: Apache-2.0
// The elements of matrices in registers and in shared memory: how many bits each has, the value of
// its bits, and accumulators.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>

#include "gradverify_simt/forced.hpp"

namespace gradverify::simt::ptx {

/// By the number of a MatrixElement.
inline int bits_of(MatrixElement element) {
    constexpr int bits[] = {16, 16, 32, 64, 8, 8, 4, 4, 1, 8, 8, 32, 32};
    static_assert(std::size(bits) == static_cast<std::size_t>(MatrixElement::s32) + 1);
    return bits[static_cast<std::size_t>(element)];
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

/// Accumulator `i` in registers: a half, a float, a double or an integer, whose sum is a T.
template <class T>
T accumulator(MatrixElement element, const void* registers, int i) {
    if constexpr (std::is_same_v<T, float>) {
        if (element == MatrixElement::f16)
            return factor<float>(element, element_of(registers, 16, i));
        return std::bit_cast<float>(static_cast<std::uint32_t>(element_of(registers, 32, i)));
    } else if constexpr (std::is_same_v<T, double>) {
        return std::bit_cast<double>(element_of(registers, 64, i));
    } else {
        return static_cast<std::int32_t>(element_of(registers, 32, i));
    }
}
/// A half is rounded once; integers wrap or saturate.
template <class T>
void put_accumulator(MatrixElement element, void* registers, int i, T sum, bool saturates) {
    const auto put = [&](auto bits) {
        std::memcpy(static_cast<char*>(registers) + static_cast<std::size_t>(i) * sizeof bits,
                    &bits, sizeof bits);
    };
    if constexpr (std::is_same_v<T, double>) {
        put(sum);
    } else if constexpr (std::is_same_v<T, float>) {
        if (element == MatrixElement::f16) return put(unit::HalfFormat::from_float(sum));
        put(result<f32, 0>(sum));
    } else {
        using Limits = std::numeric_limits<std::int32_t>;
        if (saturates) sum = std::clamp<std::int64_t>(sum, Limits::min(), Limits::max());
        put(static_cast<std::uint32_t>(sum));
    }
}

}  // namespace gradverify::simt::ptx
