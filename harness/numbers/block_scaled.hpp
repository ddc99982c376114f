// SPDX-License-Identifier: Apache-2.0
// Decides which numbers a tensor with a scale for each block of elements can hold, and which
// elements and scales hold them. Blocks lie along the innermost axis; the last one of a row may be
// shorter. The formats are those of the OCP Microscaling Formats (MX) specification, version 1.0,
// and NVIDIA's NVFP4 without its scale of the whole tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "harness/numbers/dtype.hpp"

namespace gradverify {

/// A number is an element times its block's scale.
struct BlockFormat {
    std::string_view name;
    DType element;
    int length;  ///< elements in a block
    DType scale;

    std::int64_t blocks_in(std::int64_t row) const { return (row + length - 1) / length; }
};
inline constexpr BlockFormat mxfp8{"mxfp8", DType::f8e4m3, 32, DType::f8e8m0};
inline constexpr BlockFormat mxfp8_e5m2{"mxfp8_e5m2", DType::f8e5m2, 32, DType::f8e8m0};
inline constexpr BlockFormat mxfp4{"mxfp4", DType::f4e2m1, 32, DType::f8e8m0};
inline constexpr BlockFormat nvfp4{"nvfp4", DType::f4e2m1, 16, DType::f8e4m3};

/// What a tensor stores: numbers of the format's two types, in the order of rows.
struct BlockScaled {
    std::vector<double> elements, scales;
};

/// The elements and scales whose products are these rows; nothing where some block has none. Of
/// several scales neighbouring blocks have different ones, so that numbers of one size are stored
/// as elements of many.
/// **Ranges** `row` elements in a row, at least 1 unless there are none.
std::optional<BlockScaled> encoded(const BlockFormat& format, std::span<const double> values,
                                   std::int64_t row);

/// Rounds each block to numbers that the format holds: those with the scale that the MX
/// specification gives it (section 6.3), or NVFP4's, the largest magnitude over 6.
void round_blocks(const BlockFormat& format, std::span<double> values, std::int64_t row);

/// Elements as they lie in memory: f4e2m1 two to a byte, rows in whole bytes. The last half of an
/// odd row holds a number that is not the tensor's.
std::vector<double> packed(std::span<const double> elements, std::int64_t row);

}  // namespace gradverify
