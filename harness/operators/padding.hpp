// SPDX-License-Identifier: Apache-2.0
// Decides which elements of a batch of ragged rows are padding: no kernel may read them, and what a
// kernel leaves there it declares. References never see them.
#pragma once

#include <string>
#include <vector>

#include "harness/operators/array.hpp"

namespace gradverify {

/// How many rows of a tensor are used along an axis: the input that says so, for each row of the
/// first of the tensor's other axes.
struct Lengths {
    std::string tensor;  ///< empty: all rows are used
    int axis = 1;
};

/// Whether each element of a tensor, row-major, lies behind the rows that are used: of x(b, t, j)
/// with the axis 1 those with t >= lengths(b).
std::vector<bool> padding_of(const Sizes& sizes, const Array<double>& lengths, int axis);

/// Whether a tensor can have such lengths.
bool can_be_padded(const Sizes& sizes, const Sizes& lengths, int axis);

}  // namespace gradverify
