// SPDX-License-Identifier: Apache-2.0
// Decides how a tensor lies on the host, and between which values its elements are.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace gradverify {

using Sizes = std::vector<std::int64_t>;

/// The largest std::int64_t when there are more.
std::int64_t element_count(const Sizes& sizes);

/// A dense row-major array on the host, as references read and write it.
template <class T>
struct Array {
    Sizes sizes;
    std::vector<T> data;

    std::int64_t size(int axis) const { return sizes[static_cast<std::size_t>(axis)]; }
};

/// An array whose elements all have this value.
template <class T>
Array<T> filled(Sizes sizes, const T& value = T()) {
    const auto count = static_cast<std::size_t>(element_count(sizes));
    return {std::move(sizes), std::vector<T>(count, value)};
}

/// The values that a tensor may hold: between the two, which only an integer type includes.
struct ValueDomain {
    double lowest = -std::numeric_limits<double>::infinity();
    double highest = std::numeric_limits<double>::infinity();
};

}  // namespace gradverify
