// SPDX-License-Identifier: Apache-2.0
// Decides how a number is held in an element of a tensor: its bits in each type, and the number
// that is left after rounding to nearest, ties to even, as CUDA's conversions round. Written for
// the harness alone: the cpu device has its own, and each checks the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "harness/numbers/dtype.hpp"

namespace gradverify {

/// The number of the type that is nearest to the value; beyond the largest one infinity, and NaN in
/// a type that has none.
///
/// **Ranges** floating types; of an integer type the value itself.
double rounded_to(DType dtype, double value);

/// Whether every value is a number of the type.
bool are_numbers_of(DType dtype, std::span<const double> values);

/// Whether tensor cores multiply a number of f32 as it is.
bool is_number_of_tf32(double value);

/// The number of the type that follows in the direction of `towards`.
///
/// **Ranges** `value` is a finite number of a floating type.
double next_number_of(DType dtype, double value, double towards);

/// How far from `value` a result can be once it is stored, when it was off by at most `error`
/// before: rounding is monotone, so one of the two ends is the farthest. Infinite where it may
/// overflow; in a type of 8 bits wherever it may be beyond the largest number, since conversions
/// saturate, or give NaN or infinity, some of them before others.
double error_once_stored(DType dtype, double value, double error);

/// The bits of one element, in the low bytes; the value is rounded to the type.
std::uint64_t bits_of(DType dtype, double value);

/// The number that an element holds.
double value_of(DType dtype, const std::byte* at);

}  // namespace gradverify
