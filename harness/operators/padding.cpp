// SPDX-License-Identifier: Apache-2.0
#include "harness/operators/padding.hpp"

#include <algorithm>

namespace gradverify {

bool can_be_padded(const Sizes& sizes, const Sizes& lengths, int axis) {
    if (axis < 0 || axis >= std::ssize(sizes)) return false;
    Sizes others = sizes;
    others.erase(others.begin() + axis);
    return lengths.size() <= others.size() &&
           std::equal(lengths.begin(), lengths.end(), others.begin());
}

std::vector<bool> padding_of(const Sizes& sizes, const Array<double>& lengths, int axis) {
    const auto ragged = static_cast<std::size_t>(axis);
    std::vector<bool> padding(static_cast<std::size_t>(element_count(sizes)));
    for (std::size_t element = 0; element < padding.size(); ++element) {
        auto rest = static_cast<std::int64_t>(element);
        std::int64_t row = 0, which = 0, step = 1;
        for (std::size_t i = sizes.size(); i-- > 0;) {
            const std::int64_t at = rest % sizes[i];
            rest /= sizes[i];
            if (i == ragged) {
                row = at;
            } else if ((i < ragged ? i : i - 1) < lengths.sizes.size()) {
                which += at * step;
                step *= sizes[i];
            }
        }
        padding[element] =
            static_cast<double>(row) >= lengths.data[static_cast<std::size_t>(which)];
    }
    return padding;
}

}  // namespace gradverify
