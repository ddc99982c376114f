// SPDX-License-Identifier: Apache-2.0
// The layouts of images and filters, for the operators that have them: the names that frameworks
// give them in two dimensions stand for one and three as well. Blocked ones are oneDNN's.
#pragma once

#include <cctype>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/operator.hpp"

namespace gradverify {

/// Axes in the order of the sizes, then the others behind each other.
inline std::vector<int> axes_then(std::vector<int> first, int rank, std::vector<int> last) {
    for (int axis = 2; axis < rank; ++axis) first.push_back(axis);
    first.insert(first.end(), last.begin(), last.end());
    return first;
}

/// Two axes, then the spatial ones: row-major.
inline std::vector<int> spatial_axes_last(int rank) { return axes_then({0, 1}, rank, {}); }

/// The numbers of elements that axes are cut into: those of vectors of 512 and 256 bits.
inline constexpr std::int64_t block_sizes_of_axes[] = {16, 8};

/// Of a tensor `n, channels, spatial`: nchw (ncw, ncdhw), nhwc (nwc, ndhwc), and nChw16c and
/// nChw8c, whose channels lie innermost in blocks of 16 or 8.
inline std::vector<AxisOrder> image_orders() {
    std::vector<AxisOrder> orders{{"nchw", spatial_axes_last},
                                  {"nhwc", [](int rank) { return axes_then({0}, rank, {1}); }}};
    for (const std::int64_t size : block_sizes_of_axes)
        orders.push_back({"nChw" + std::to_string(size) + "c", spatial_axes_last, {{1, size}}});
    return orders;
}

/// Of a tensor whose two axes before the spatial ones are called so. For "o" and "i": oihw, ohwi
/// (KYXC), hwio (RSCF), and OIhw16i16o, OIhw16o16i, OIhw8i8o and OIhw8o8i, where 16 or 8 of both
/// lie innermost, the last one in the name contiguous.
inline std::vector<AxisOrder> filter_orders(const std::string& first, const std::string& second) {
    std::vector<AxisOrder> orders{
        {first + second + "hw", spatial_axes_last},
        {first + "hw" + second, [](int rank) { return axes_then({0}, rank, {1}); }},
        {"hw" + second + first, [](int rank) {
             return axes_then({}, rank, {1, 0});
         }}};
    std::string blocked = first + second;
    for (char& letter : blocked)
        letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    for (const std::int64_t size : block_sizes_of_axes) {
        const std::string text = std::to_string(size);
        orders.push_back({blocked + "hw" + text + second + text + first,
                          spatial_axes_last,
                          {{1, size}, {0, size}}});
        orders.push_back({blocked + "hw" + text + first + text + second,
                          spatial_axes_last,
                          {{0, size}, {1, size}}});
    }
    return orders;
}

}  // namespace gradverify
