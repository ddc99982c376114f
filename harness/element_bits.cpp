// SPDX-License-Identifier: Apache-2.0
#include "harness/element_bits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace gradverify {

namespace {

/// The bits of a type of 16: a sign, the exponent, and the significand without its first digit.
struct Narrow {
    int exponent_bits, fraction_bits;
    int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

Narrow narrow(DType dtype) { return dtype == DType::f16 ? Narrow{5, 10} : Narrow{8, 7}; }

/// Rounds to a type of fewer digits than a double has.
double rounded_to_narrow(const DTypeTraits& traits, double value) {
    if (!std::isfinite(value)) return value;
    if (std::abs(value) < traits.smallest_normal) {
        // Below it neighbours are equally far apart; a double of this size has that as its last
        // digit, so the addition rounds to it.
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

std::uint16_t bits_of_narrow(DType dtype, double value) {
    const Narrow format = narrow(dtype);
    const int all_ones = (1 << format.exponent_bits) - 1;
    const std::uint32_t sign = std::signbit(value) ? 0x8000u : 0u;
    const auto encoded = [&](int exponent, std::uint32_t fraction) {
        return static_cast<std::uint16_t>(
            sign | static_cast<std::uint32_t>(exponent) << format.fraction_bits | fraction);
    };
    if (std::isnan(value)) return encoded(all_ones, 1u << (format.fraction_bits - 1));
    const double rounded = std::abs(rounded_to(dtype, value));
    if (std::isinf(rounded)) return encoded(all_ones, 0);
    const double smallest_normal = traits_of(dtype).smallest_normal;
    const int exponent = std::ilogb(std::max(rounded, smallest_normal));
    const auto significand =
        static_cast<std::uint32_t>(std::ldexp(rounded, format.fraction_bits - exponent));
    // A number that is not normal has the exponent 0, and its first digit is no hidden one.
    return encoded(rounded < smallest_normal ? 0 : exponent + format.bias(),
                   significand & ((1u << format.fraction_bits) - 1u));
}

double value_of_narrow(DType dtype, std::uint16_t bits) {
    const Narrow format = narrow(dtype);
    const int all_ones = (1 << format.exponent_bits) - 1;
    const int exponent = bits >> format.fraction_bits & all_ones;
    const int fraction = bits & ((1 << format.fraction_bits) - 1);
    const double sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;
    if (exponent == all_ones) return fraction != 0 ? NAN : sign * INFINITY;
    const int hidden = exponent > 0 ? 1 << format.fraction_bits : 0;
    return sign * std::ldexp(hidden + fraction,
                             std::max(exponent, 1) - format.bias() - format.fraction_bits);
}

}  // namespace

double rounded_to(DType dtype, double value) {
    switch (dtype) {
        case DType::f16:
        case DType::bf16:
            return rounded_to_narrow(traits_of(dtype), value);
        case DType::f32:
            return static_cast<double>(static_cast<float>(value));
        case DType::f64:
        case DType::i32:
        case DType::i64:
            break;
    }
    return value;
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
    const DTypeTraits traits = traits_of(dtype);
    // Half a unit in the last place, downwards from a power of two a quarter of one, and a little.
    const double unit = std::max(std::abs(value), traits.smallest_normal) * traits.unit_roundoff;
    for (double step = unit / 4.0;; step *= 2.0) {
        const double next = rounded_to(dtype, value + (towards > value ? step : -step));
        if (next != value) return next;
    }
}

double error_once_stored(DType dtype, double value, double error) {
    if (error == 0.0 && !std::isfinite(value)) return 0.0;
    const double low = rounded_to(dtype, value - error), high = rounded_to(dtype, value + error);
    if (!std::isfinite(low) || !std::isfinite(high)) return INFINITY;
    return std::max(std::abs(low - value), std::abs(high - value));
}

std::uint64_t bits_of(DType dtype, double value) {
    switch (dtype) {
        case DType::f16:
        case DType::bf16:
            return bits_of_narrow(dtype, value);
        case DType::f32:
            return std::bit_cast<std::uint32_t>(static_cast<float>(value));
        case DType::f64:
            return std::bit_cast<std::uint64_t>(value);
        case DType::i32:
            return std::bit_cast<std::uint32_t>(static_cast<std::int32_t>(std::llround(value)));
        case DType::i64:
            return std::bit_cast<std::uint64_t>(static_cast<std::int64_t>(std::llround(value)));
    }
    return 0;
}

double value_of(DType dtype, const std::byte* at) {
    const auto load = [&]<class T>(T value) {
        std::memcpy(&value, at, sizeof value);
        return value;
    };
    switch (dtype) {
        case DType::f16:
        case DType::bf16:
            return value_of_narrow(dtype, load(std::uint16_t{}));
        case DType::f32:
            return static_cast<double>(load(float{}));
        case DType::f64:
            return load(double{});
        case DType::i32:
            return load(std::int32_t{});
        case DType::i64:
            return static_cast<double>(load(std::int64_t{}));
    }
    return NAN;
}

}  // namespace gradverify
