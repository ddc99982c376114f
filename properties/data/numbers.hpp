// SPDX-License-Identifier: Apache-2.0
// Decides which random numbers an array is filled with: integers small enough for exact sums,
// numbers with full mantissas, indices, and the dense ones of each; and how they are moved into a
// tensor's domain. Knows neither operators nor tensors by name.
#pragma once

#include <cstdint>

#include "harness/base/random.hpp"
#include "harness/operators/operator.hpp"

namespace gradverify {

/// The largest A with (A + A) * A * length <= 2^p, a term of magnitude A for a constant included in
/// the length; 0 when there is none.
std::int64_t exact_amplitude(std::int64_t reduction_length, int exact_bits);

/// Integers whose sum of `reduction_length` products is exact, also after one of the factors took a
/// step of its own size; thinned with zeros where the sum is long.
///
/// **Ranges** of magnitude at most `largest`: more than 64 makes no bug more visible, and keeps
/// printed values short.
void fill_integers(Array<double>& array, SplitMix64 random, std::int64_t reduction_length,
                   int exact_bits, std::int64_t largest = 64);

/// Numbers of either sign, from 1/2 to 2, with all digits of the type in use; sometimes rows of
/// very different magnitude.
void fill_mantissas(Array<double>& array, SplitMix64 random, DType dtype);

/// Numbers of all sizes that a float of 8 bits has, but zero. A quarter are the least, which are
/// not normal, and a quarter of the largest exponent, which other formats keep for infinity.
void fill_whole_range(Array<double>& array, SplitMix64 random, DType dtype);

/// Numbers of either sign, from 1/4 to 1.
void fill_smooth(Array<double>& array, SplitMix64 random);

/// A tensor's elements among those of all tensors that a case has.
struct DenseRange {
    std::int64_t first = 0, total = 0;
};

/// Integers of magnitude at most `amplitude`, none of them zero, nor one where there is room: a
/// factor of one might as well be missing. A pool of them is dealt out in a random order, to one
/// tensor after the other where it is large enough for all.
void fill_dense_integers(Array<double>& array, const DenseRange& range, std::uint64_t seed,
                         std::int64_t amplitude);

/// Mantissas from one sequence over all tensors that repeats when all have come: for a float after
/// 2^22.
void fill_dense_mantissas(Array<double>& array, const DenseRange& range, std::uint64_t seed,
                          DType dtype);

/// Indices, so that some are alike and some are not; the ends of the range come more often. Dense:
/// each once, in a random order, as far as there are enough.
void fill_indices(Array<double>& array, const ValueDomain& range, bool is_dense, SplitMix64 random);

/// Puts numbers outside of the range in the place of at least one: those beside it, and the ends of
/// the type.
void put_invalid(Array<double>& array, const ValueDomain& range, DType dtype, SplitMix64 random);

/// The number of the type next to a value inside a domain, and inside as well where one is.
double rounded_inside(double value, const ValueDomain& domain, DType dtype);

/// Minus one, zero and one, each many times, or, of every other seed, zero alone: so that maxima
/// are ties, and elements lie at zero.
void fill_ties(Array<double>& array, std::uint64_t seed, SplitMix64 random);

/// Puts NaN and infinities between the numbers: at least one, a NaN or, of an even seed, -inf.
void fill_nan(Array<double>& array, std::uint64_t seed, SplitMix64 random);

/// Moves drawn numbers into the domain of a tensor.
void move_inside(Array<double>& array, const ValueDomain& domain, DType dtype);

/// The same of integers, which stay integers of magnitude at most `amplitude` where the domain
/// holds three of those; what already lies among them stays.
void move_integers_inside(Array<double>& array, const ValueDomain& domain, DType dtype,
                          std::int64_t amplitude);

/// Makes all elements positive, and as small as keeps a sum of a row of them times others at the
/// others' size: nothing cancels then, and bounds of layers behind each other stay close.
void make_averaging(Array<double>& array);

/// A mean that is much larger than the spread shows a variance that is a difference of squares.
void add_offset(Array<double>& array, SplitMix64 random, DType dtype);

/// Makes some elements far larger than their neighbours, so that a softmax without its largest
/// logit overflows, and the logarithm of a probability is one of zero.
void add_outliers(Array<double>& array, SplitMix64 random, DType dtype);

/// Numbers at which functions that are not linear have a special case: some elements zero, or all
/// of them; rows that are constant, or all alike.
void make_special(Array<double>& array, SplitMix64 random);

/// Makes all elements so large that what was meant for a bound, such as the start of a maximum, is
/// none; alike, so that what a ratio of them was it stays.
void make_large(Array<double>& array, SplitMix64 random, DType dtype);

/// The same as outliers of every other element, positive and negative ones in turn: of the second,
/// the fourth and so on in turn 0, of the others in turn 1; in turns 2 and 3 of those with the
/// other sign.
void add_dense_outliers(Array<double>& array, std::uint64_t turn, DType dtype);

}  // namespace gradverify
