// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/poison.hpp"

#include <stdexcept>

#include "harness/numbers/element_bits.hpp"

namespace gradverify {

namespace {

// The NaNs have payloads of their own, so that poison, guards and results can be told apart. The
// finite guard is small, so that adding any integer changes its bits.
struct Patterns {
    std::uint64_t guard_nan, poison_nan;
    double huge;  ///< three eighths of what overflows
};
constexpr double guard_finite = 0.71875;

Patterns patterns_of(DType dtype) {
    switch (dtype) {
        case DType::f16:
            return {0x7ea5, 0x7ed1, 0x1.8p+14};
        case DType::bf16:
            return {0x7fe5, 0x7fd1, 0x1.8p+126};
        // 8 bits have few NaNs. Conversions to e4m3 give 0x7f, the poison's own bits: the second
        // call, with another poison, tells what was left unwritten.
        case DType::f8e4m3:
            return {0xff, 0x7f, 0x1.8p+7};
        case DType::f8e5m2:
            return {0xfd, 0x7d, 0x1.8p+14};
        // One NaN, and no signs: the huge numbers are two of either end.
        case DType::f8e8m0:
            return {0xff, 0xff, 0x1p+125};
        case DType::f32:
            return {0x7fc0a5a5, 0x7fc0d1ed, 0x1.8p+126};
        case DType::f64:
            return {0x7ff8a5a5a5a5a5a5, 0x7ff8d1edd1edd1ed, 0x1.8p+1022};
        case DType::i32:
        case DType::i64:
        case DType::u8:
        case DType::f4e2m1:
            break;
    }
    throw std::logic_error("integers and floats of 4 bits have no NaN");
}

// An integer poison is an index far outside of any tensor; two calls have two of them.
constexpr double poison_index = 0x7a7a7a7a, other_poison_index = 0x5b5b5b5b;
constexpr double plausible_index = 1.0, plausible_number = 0.625;

}  // namespace

std::uint64_t poison_bits(DType dtype, Poison poison) {
    if (poison == Poison::plausible)
        return bits_of(dtype, is_floating(dtype) ? plausible_number : plausible_index);
    if (!is_floating(dtype))
        return bits_of(dtype, poison == Poison::negative_huge   ? -poison_index
                              : poison == Poison::positive_huge ? other_poison_index
                                                                : poison_index);
    const Patterns patterns = patterns_of(dtype);
    if (poison == Poison::nan) return patterns.poison_nan;
    if (dtype == DType::f8e8m0 && poison == Poison::negative_huge)
        return bits_of(dtype, 1.0 / patterns.huge);
    return bits_of(dtype, poison == Poison::positive_huge ? patterns.huge : -patterns.huge);
}

double poison_value(DType dtype, Poison poison) {
    const std::uint64_t bits = poison_bits(dtype, poison);
    return value_of(dtype, reinterpret_cast<const std::byte*>(&bits));
}

std::uint64_t guard_bits(DType dtype, bool nan) {
    if (!is_floating(dtype)) return bits_of(dtype, nan ? poison_index : -poison_index);
    return nan ? patterns_of(dtype).guard_nan : bits_of(dtype, guard_finite);
}

}  // namespace gradverify
