// SPDX-License-Identifier: Apache-2.0
#include "harness/numbers/element_bits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace gradverify {

namespace {

int bits_in(DType dtype) {
    return dtype == DType::f4e2m1 ? 4 : 8 * static_cast<int>(traits_of(dtype).bytes);
}

/// A type of 4, 8 or 16 bits: a sign, the exponent, and the significand without its first digit. A
/// type without infinities has numbers of the largest exponent, and one NaN, of ones; 4 bits none.
struct Narrow {
    explicit Narrow(DType dtype)
        : fraction_bits(traits_of(dtype).exact_bits - 1),
          exponent_bits(bits_in(dtype) - 1 - fraction_bits),
          has_infinities(dtype != DType::f8e4m3 && dtype != DType::f4e2m1) {}

    int fraction_bits, exponent_bits;
    bool has_infinities;

    int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    std::uint32_t all_ones() const { return (1u << exponent_bits) - 1u; }
    std::uint32_t fraction_mask() const { return (1u << fraction_bits) - 1u; }
    std::uint32_t sign() const { return 1u << (exponent_bits + fraction_bits); }
    std::uint32_t infinity() const {
        return all_ones() << fraction_bits | (has_infinities ? 0u : fraction_mask());
    }
    std::uint32_t nan() const { return infinity() | 1u << (fraction_bits - 1); }
};

/// Rounds to a type of fewer digits than a double has.
double rounded_to_narrow(const DTypeTraits& traits, double value) {
    if (!std::isfinite(value)) return value;
    if (std::abs(value) < traits.smallest_normal) {
        // Neighbours are equally far apart here; the distance is the last digit of a double of the
        // shift's size, so the addition rounds to it.
        const double shift = 0x1.8p+52 * (2.0 * traits.unit_roundoff * traits.smallest_normal);
        return std::copysign((value + shift) - shift, value);
    }
    const int dropped = 53 - traits.exact_bits;
    auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
    bits += half - 1 + (bits >> dropped & 1u);
    bits &= ~((half << 1) - 1);
    const auto rounded = std::bit_cast<double>(bits);
    return std::abs(rounded) <= traits.largest ? rounded : std::copysign(INFINITY, value);
}

/// Powers of two, without a sign and without zero.
double rounded_to_e8m0(double value) {
    if (!(value >= 0.0)) return NAN;
    const DTypeTraits traits = traits_of(DType::f8e8m0);
    const double rounded = rounded_to_narrow(traits, std::max(value, traits.smallest_normal));
    return std::isinf(rounded) ? NAN : rounded;
}

std::uint32_t bits_of_e8m0(double value) {
    const double rounded = rounded_to_e8m0(value);
    return std::isnan(rounded) ? 0xffu : static_cast<std::uint32_t>(std::ilogb(rounded) + 127);
}

std::uint32_t bits_of_narrow(DType dtype, double value) {
    const Narrow format(dtype);
    const std::uint32_t sign = std::signbit(value) ? format.sign() : 0u;
    const double rounded = std::abs(rounded_to(dtype, value));
    if (std::isnan(rounded)) return sign | format.nan();
    if (std::isinf(rounded)) return sign | format.infinity();
    const double smallest_normal = traits_of(dtype).smallest_normal;
    const int exponent = std::ilogb(std::max(rounded, smallest_normal));
    const auto significand =
        static_cast<std::uint32_t>(std::ldexp(rounded, format.fraction_bits - exponent));
    // A number that is not normal has the exponent 0 and no hidden digit.
    const int encoded = rounded < smallest_normal ? 0 : exponent + format.bias();
    return sign | static_cast<std::uint32_t>(encoded) << format.fraction_bits |
           (significand & format.fraction_mask());
}

}  // namespace

double rounded_to(DType dtype, double value) {
    if (!is_floating(dtype) || dtype == DType::f64) return value;
    if (dtype == DType::f32) return static_cast<double>(static_cast<float>(value));
    if (dtype == DType::f8e8m0) return rounded_to_e8m0(value);
    const double rounded = rounded_to_narrow(traits_of(dtype), value);
    return std::isinf(rounded) && !Narrow(dtype).has_infinities ? NAN : rounded;
}

bool are_numbers_of(DType dtype, std::span<const double> values) {
    return std::ranges::all_of(values,
                               [&](double value) { return rounded_to(dtype, value) == value; });
}

bool is_number_of_tf32(double value) {
    const auto as_float = static_cast<float>(value);
    if (!std::isfinite(value)) return true;
    return as_float == value && (std::bit_cast<std::uint32_t>(as_float) & 0x1fffu) == 0;
}

double next_number_of(DType dtype, double value, double towards) {
    if (dtype == DType::f64) return std::nextafter(value, towards);
    const DTypeTraits& traits = traits_of(dtype);
    // A doubled step reaches the neighbour before the one behind it; none is as near as the first.
    for (double step = traits.smallest_normal * traits.unit_roundoff;; step *= 2.0) {
        const double next = rounded_to(dtype, value + (towards > value ? step : -step));
        if (next != value) return next;
    }
}

double error_once_stored(DType dtype, double value, double error) {
    if (error == 0.0 && !std::isfinite(value))
        return is_of_8_bits(dtype) && std::isinf(value) ? INFINITY : 0.0;
    const double low = rounded_to(dtype, value - error), high = rounded_to(dtype, value + error);
    if (!std::isfinite(high)) return INFINITY;  // an infinite `low` is infinitely far
    // Conversions to 8 bits differ from there on: to the largest number, NaN or infinity.
    if (is_of_8_bits(dtype) && std::abs(value) + error > traits_of(dtype).largest) return INFINITY;
    return std::max(std::abs(low - value), std::abs(high - value));
}

double error_of_rounding(DType dtype, double magnitude) {
    if (!std::isfinite(rounded_to(dtype, magnitude))) return INFINITY;
    const DTypeTraits traits = traits_of(dtype);
    // Below the smallest normal number neighbours are equally far apart, and zero is one of them.
    return std::min(magnitude, traits.unit_roundoff * std::max(magnitude, traits.smallest_normal));
}

std::uint64_t bits_of(DType dtype, double value) {
    switch (dtype) {
        case DType::f8e4m3:
        case DType::f8e5m2:
        case DType::f4e2m1:
        case DType::f16:
        case DType::bf16:
            return bits_of_narrow(dtype, value);
        case DType::f8e8m0:
            return bits_of_e8m0(value);
        case DType::f32:
            return std::bit_cast<std::uint32_t>(static_cast<float>(value));
        case DType::f64:
            return std::bit_cast<std::uint64_t>(value);
        case DType::i32:
            return std::bit_cast<std::uint32_t>(static_cast<std::int32_t>(std::llround(value)));
        case DType::i64:
            return std::bit_cast<std::uint64_t>(static_cast<std::int64_t>(std::llround(value)));
        case DType::u8:
            return static_cast<std::uint8_t>(std::llround(value));
    }
    return 0;
}

double value_of(DType dtype, const std::byte* at) {
    if (dtype == DType::f32) {
        float value = 0.0f;
        std::memcpy(&value, at, sizeof value);
        return static_cast<double>(value);
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, at, traits_of(dtype).bytes);
    return number_of(dtype, bits);
}

}  // namespace gradverify
