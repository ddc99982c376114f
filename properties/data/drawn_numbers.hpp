// SPDX-License-Identifier: Apache-2.0
// Decides which random numbers an array is filled with: integers small enough for exact sums,
// numbers with full mantissas, and the dense ones of each; and how they are moved into a
// tensor's domain.
#pragma once

#include <cstdint>

#include "harness/base/random.hpp"
#include "harness/numbers/block_scaled.hpp"
#include "harness/operators/operator.hpp"

namespace gradverify {

/// The largest A with (A + A) * A * length <= 2^p; 0 when there is none.
std::int64_t exact_amplitude(std::int64_t reduction_length, int exact_bits);

/// Integers up to `largest` whose sum of `reduction_length` products is exact, also after one of
/// the factors took a step of its own size; thinned with zeros where the sum is long.
void fill_integers(Array<double>& array, SplitMix64 random, std::int64_t reduction_length,
                   int exact_bits, std::int64_t largest = 64);

/// Numbers of either sign, from 1/2 to 2, with all digits of the type in use; sometimes rows of
/// very different magnitude.
void fill_mantissas(Array<double>& array, SplitMix64 random, DType dtype);

/// Numbers of all sizes that a float of 8 bits has, without zero. A quarter are subnormal, and a
/// quarter have the largest exponent, which other formats keep for infinity.
void fill_whole_range(Array<double>& array, SplitMix64 random, DType dtype);

/// Numbers whose blocks have scales of their own, another in each block than in the one before; by
/// turns of usual sizes, as small as the format has them, and nearly as large as a float. Unless
/// dense some elements are zero, and some blocks.
void fill_blocks(Array<double>& array, SplitMix64 random, const BlockFormat& format, bool is_dense);

/// Numbers that show how a kernel rounds them to 8 bits: halfway between two of those, powers of
/// two, and the numbers next to these. Now and then all are near an end of their type's range.
void fill_near_steps(Array<double>& array, SplitMix64 random, DType dtype, DType rounded);

/// Numbers of either sign, from 1/4 to 1.
void fill_smooth(Array<double>& array, SplitMix64 random);

/// A tensor's elements among those of all tensors of a case.
struct DenseRange {
    std::int64_t first = 0, total = 0;
};

/// Integers up to `amplitude` without zero, and without one where there is room: a factor of one
/// might as well be missing. A shuffled pool is dealt out, to all tensors where it is large enough.
void fill_dense_integers(Array<double>& array, const DenseRange& range, std::uint64_t seed,
                         std::int64_t amplitude);

/// Mantissas from one sequence over all tensors, which repeats for a float after 2^22.
void fill_dense_mantissas(Array<double>& array, const DenseRange& range, std::uint64_t seed,
                          DType dtype);

/// The number of the type nearest to a value inside a domain, and inside as well if there is one.
double rounded_inside(double value, const ValueDomain& domain, DType dtype);

/// Minus one, zero and one, or, for every other seed, zero alone: ties of maxima, kinks at zero.
/// Zeros have either sign.
void fill_ties(Array<double>& array, std::uint64_t seed, SplitMix64 random);

/// Puts NaN and infinities between the numbers: at least one NaN or, for an even seed, -inf.
void fill_nan(Array<double>& array, std::uint64_t seed, SplitMix64 random);

/// Moves drawn numbers into the domain of a tensor.
void move_inside(Array<double>& array, const ValueDomain& domain, DType dtype);

/// The same for integers, which stay integers up to `amplitude` if the domain holds three of those.
void move_integers_inside(Array<double>& array, const ValueDomain& domain, DType dtype,
                          std::int64_t amplitude);

/// Makes all elements positive, and so small that a row of them averages: nothing cancels, and
/// bounds of layers behind each other stay close.
void make_averaging(Array<double>& array);

/// Makes the mean much larger than the spread, for a variance that is a difference of squares.
void add_offset(Array<double>& array, SplitMix64 random, DType dtype);

/// Makes some elements far larger than their neighbours, so that a careless softmax overflows.
void add_outliers(Array<double>& array, SplitMix64 random, DType dtype);

/// Makes some elements zero, of either sign, or all of them; or rows constant, or all alike.
void make_special(Array<double>& array, SplitMix64 random);

/// Makes all elements, or those of about half of the rows, smaller by one factor: for a float by
/// 2^13 to 2^66, or a fifth of another exponent to that. A constant that a formula must not have,
/// such as an epsilon in a divisor, shows there.
void make_small(Array<double>& array, SplitMix64 random, DType dtype, int most = 66);

/// The same upwards, by 2 to this exponent at most, and not beyond the type's largest number: a
/// square on the way overflows though the result would not.
void make_huge(Array<double>& array, SplitMix64 random, DType dtype, int most);

/// Makes all elements larger by one factor, beyond supposed bounds such as the start of a maximum.
void make_large(Array<double>& array, SplitMix64 random, DType dtype);

/// Makes every other element an outlier, positive and negative in turn: in turn 0 the second, the
/// fourth and so on, in turn 1 the others; in turns 2 and 3 with the other sign.
void add_dense_outliers(Array<double>& array, std::uint64_t turn, DType dtype);

}  // namespace gradverify
