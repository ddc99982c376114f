// SPDX-License-Identifier: Apache-2.0
// Decides how an element of a tensor holds a number: its bits in each type, and rounding to
// nearest, ties to even, as CUDA's conversions round. Tests compare it with the cpu device's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/base/on_both.hpp"
#include "harness/numbers/dtype.hpp"

namespace gradverify {

/// The number of the type that is nearest to the value; beyond the largest one infinity, or NaN in
/// a type without infinities. For an integer type the value itself. In f8e8m0 the least number for
/// zero, as CUDA's conversions give it, and NaN for what is negative.
double rounded_to(DType dtype, double value);

/// Whether every value is a number of the type.
bool are_numbers_of(DType dtype, std::span<const double> values);

/// Whether tensor cores multiply a number of f32 as it is.
bool is_number_of_tf32(double value);

/// The next number of the type in the direction of `towards`.
/// **Ranges** `value` is a finite number of a floating type.
double next_number_of(DType dtype, double value, double towards);

/// How far from `value` a result can be once it is stored, if its error was at most `error` before.
/// Infinite where it may overflow, and in a type of 8 bits where it may be beyond the largest
/// number: some conversions saturate there, others give NaN or infinity.
double error_once_stored(DType dtype, double value, double error);

/// The most that rounding to the type takes from a number of at most this magnitude; infinite where
/// the result may be beyond the largest number.
double error_of_rounding(DType dtype, double magnitude);

/// The bits of one element, in the low bytes; the value is rounded to the type.
std::uint64_t bits_of(DType dtype, double value);

/// The number that an element holds.
double value_of(DType dtype, const std::byte* at);

namespace detail {

template <class To, class From>
GRADVERIFY_ON_BOTH inline To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

GRADVERIFY_ON_BOTH inline double half_value(std::uint32_t bits) {
    const std::uint32_t exponent = bits >> 10 & 31u, fraction = bits & 1023u;
    const double sign = (bits >> 15) != 0 ? -1.0 : 1.0;
    if (exponent == 0) return sign * static_cast<double>(fraction) * 0x1p-24;
    if (exponent == 31)
        return fraction != 0 ? static_cast<double>(__builtin_nan(""))
                             : sign * static_cast<double>(__builtin_inf());
    // The exponent of a double is 1008 more.
    const std::uint64_t wide = static_cast<std::uint64_t>(exponent + 1008) << 52 |
                               static_cast<std::uint64_t>(fraction) << 42;
    return sign * bits_as<double>(wide);
}

GRADVERIFY_ON_BOTH inline double e4m3_value(std::uint32_t bits) {
    const std::uint32_t rest = bits & 127u;
    const double sign = (bits >> 7) != 0 ? -1.0 : 1.0;
    if (rest == 127) return static_cast<double>(__builtin_nan(""));
    if (rest < 8) return sign * static_cast<double>(rest) * 0x1p-9;
    // The exponent of a double is 1016 more.
    return sign * bits_as<double>((static_cast<std::uint64_t>(rest) + (1016u << 3)) << 49);
}

GRADVERIFY_ON_BOTH inline double e8m0_value(std::uint32_t bits) {
    if (bits == 255) return static_cast<double>(__builtin_nan(""));
    // The exponent of a double is 896 more.
    return bits_as<double>(static_cast<std::uint64_t>(bits + 896) << 52);
}

/// Of the lower half of a byte.
GRADVERIFY_ON_BOTH inline double e2m1_value(std::uint32_t bits) {
    const std::uint32_t rest = bits & 7u, exponent = rest >> 1, fraction = rest & 1u;
    const double size = exponent == 0 ? 0.5 * fraction : 0.25 * (fraction + 2u) * (1u << exponent);
    return (bits & 8u) != 0 ? -size : size;
}

}  // namespace detail

GRADVERIFY_ON_BOTH inline std::uint64_t load_bits(const void* data, std::int64_t i, int bytes) {
    if (bytes == 1) return static_cast<const std::uint8_t*>(data)[i];
    if (bytes == 2) return static_cast<const std::uint16_t*>(data)[i];
    if (bytes == 4) return static_cast<const std::uint32_t*>(data)[i];
    return static_cast<const std::uint64_t*>(data)[i];
}

GRADVERIFY_ON_BOTH inline void store_bits(void* data, std::int64_t i, int bytes,
                                          std::uint64_t bits) {
    if (bytes == 1)
        static_cast<std::uint8_t*>(data)[i] = static_cast<std::uint8_t>(bits);
    else if (bytes == 2)
        static_cast<std::uint16_t*>(data)[i] = static_cast<std::uint16_t>(bits);
    else if (bytes == 4)
        static_cast<std::uint32_t*>(data)[i] = static_cast<std::uint32_t>(bits);
    else
        static_cast<std::uint64_t*>(data)[i] = bits;
}

/// The number of an element's bits.
GRADVERIFY_ON_BOTH inline double number_of(DType dtype, std::uint64_t bits) {
    const auto low = static_cast<std::uint32_t>(bits);
    switch (dtype) {
        case DType::f16:
            return detail::half_value(low);
        case DType::bf16:
            return static_cast<double>(detail::bits_as<float>(low << 16));
        case DType::f8e4m3:
            return detail::e4m3_value(low);
        case DType::f8e5m2:
            return detail::half_value(low << 8);
        case DType::f32:
            return static_cast<double>(detail::bits_as<float>(low));
        case DType::f64:
            return detail::bits_as<double>(bits);
        case DType::i32:
            return static_cast<double>(static_cast<std::int32_t>(low));
        case DType::i64:
            return static_cast<double>(static_cast<std::int64_t>(bits));
        case DType::u8:
            return static_cast<double>(low);
        case DType::f8e8m0:
            return detail::e8m0_value(low);
        case DType::f4e2m1:
            return detail::e2m1_value(low);
    }
    return 0.0;
}

}  // namespace gradverify
