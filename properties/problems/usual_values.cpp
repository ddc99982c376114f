// SPDX-License-Identifier: Apache-2.0
#include "properties/problems/usual_values.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gradverify {
namespace {

using Role = ClassLevels::Role;

template <std::size_t count>
std::int64_t one_of(const std::array<std::int64_t, count>& values, SplitMix64& random) {
    return values[random.below(count)];
}

// A value that comes more often stands there more than once.
constexpr std::array<std::int64_t, 14> steps_above_one{3, 3, 3, 3, 3, 2, 2, 2, 2, 5, 5, 7, 7, 4};
constexpr std::array<std::int64_t, 12> images{3, 4, 4, 5, 6, 7, 8, 8, 10, 14, 16, 28};
constexpr std::array<std::int64_t, 14> counts{1, 1, 1, 1, 1, 2, 2, 2, 3, 4, 4, 8, 16, 64};
constexpr std::array<std::int64_t, 16> channels{1,  2,  3,  4,  8,  8,  12, 16,
                                                16, 16, 24, 32, 32, 48, 64, 64};
constexpr std::array<std::int64_t, 6> group_counts{2, 3, 4, 4, 8, 16};
constexpr std::array<std::int64_t, 6> channels_of_group{1, 1, 1, 2, 4, 8};

}  // namespace

std::int64_t usual_step(const ClassLevels& levels, GeometryPart part, SplitMix64& random) {
    if (part == GeometryPart::plain) return levels.smallest;
    if (part == GeometryPart::second && !random.one_in(4)) return levels.smallest + 1;
    return levels.smallest - 1 + one_of(steps_above_one, random);
}

std::int64_t usual_count(const ClassLevels& levels, std::int64_t unit, SplitMix64& random) {
    switch (levels.role) {
        case Role::scalar:
            return random.one_in(4) ? one_of(channels, random) : one_of(counts, random);
        case Role::size:
            return one_of(images, random);
        case Role::divisor:
            return !random.one_in(3) ? levels.smallest : one_of(group_counts, random);
        case Role::multiple:
            return unit > 1 ? unit * one_of(channels_of_group, random) : one_of(channels, random);
        case Role::geometry:
        case Role::padding:
            break;
    }
    return levels.smallest;
}

std::int64_t usual_padding(std::span<const std::int64_t> geometry, SplitMix64& random) {
    std::int64_t largest = 1, other = 1;
    for (const std::int64_t value : geometry) {
        if (value > largest)
            other = std::exchange(largest, value);
        else
            other = std::max(other, value);
    }
    switch (random.below(8)) {
        case 0:
            return largest - 1;
        case 1:
            return (largest - 1) * other / 2;
        case 2:
        case 3:
        case 4:
            return 0;
        default:
            return largest / 2;
    }
}

std::int64_t tiled_value(SplitMix64& random) {
    constexpr std::int64_t most = 160;
    constexpr std::array<std::int64_t, 4> tiles{8, 16, 32, 64};
    const std::int64_t tile = one_of(tiles, random);
    const std::int64_t value =
        tile * random.between(std::max<std::int64_t>(16 / tile, 1), most / tile);
    switch (random.below(8)) {
        case 0:
            return value - 1;
        case 1:
            return value + 1;
        default:
            return value;
    }
}

}  // namespace gradverify
