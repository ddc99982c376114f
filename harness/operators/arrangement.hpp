// SPDX-License-Identifier: Apache-2.0
// Decides what the whole numbers of a tensor may be to each other, along its last axis: a row of
// offsets, a permutation. An element alone is not drawn, simplified or checked there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/operators/array.hpp"

namespace gradverify {

/// Of the elements of each row.
enum class Arrangement : std::uint8_t {
    free,         ///< any
    ascending,    ///< none is below the one before it
    distinct,     ///< no two are equal
    permutation,  ///< each number once
    offsets,      ///< ascending, from the lowest number to the highest: where parts begin and end
};

/// Why rows of so many elements can't be arranged so; nothing if they can.
std::optional<std::string> why_not_arranged(Arrangement arrangement, std::int64_t row,
                                            const ValueDomain& range);

/// Gives each element that is NaN the simplest number beside the others: in ascending rows that of
/// the element before it, in distinct ones its own place where that is free.
/// **Errors** std::invalid_argument that names the first element that is out of order.
void complete(Array<double>& array, Arrangement arrangement, const ValueDomain& range);

}  // namespace gradverify
