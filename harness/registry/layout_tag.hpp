// SPDX-License-Identifier: Apache-2.0
// Decides what a layout's tag says, as oneDNN writes them. Letters first, the outermost axis in
// front: a capital for an axis that is also cut into blocks, a small one for another, `hw` for the
// spatial axes, whatever their number; then a size and a small letter for each block, the innermost
// last: `nChw16c`, `OIhw8i16o2i`, and with g for the groups of a filter `gOIhw16i16o`, `Goihw16g`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/operators/operator.hpp"

namespace gradverify {

/// Of all blocks together: so many elements even a tensor of one takes.
inline constexpr std::int64_t most_elements_in_blocks = 65536;

/// **Errors** std::invalid_argument, which says what would be right.
AxisOrder order_of_tag(std::string_view tag, const LayoutTags& tags);

/// What is wrong with the letters that an operator gives a tensor's axes, or with its groups.
std::vector<std::string> mistakes_in_tags(const TensorSpec& tensor, const Problem& smallest,
                                          const Problem& of_most_axes);

/// `oIhw16i`
std::string example_of_tags(const LayoutTags& tags);

}  // namespace gradverify
