// SPDX-License-Identifier: Apache-2.0
#include "properties/problems/value_levels.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace gradverify {
namespace {

using Role = ClassLevels::Role;

/// Where tiles, vectors, warps and blocks end: powers of two, the size at which a known two-path
/// kernel switches (768), and their neighbours.
constexpr std::array<std::int64_t, 23> lengths{15,  16,  17,  31,  32,   33,   63,  64,
                                               65,  127, 128, 129, 255,  256,  257, 511,
                                               512, 513, 768, 769, 1023, 1024, 1025};
/// Where rows outgrow a block's rounds, its shared memory and a usual grid; sizes of vocabularies.
constexpr std::array<std::int64_t, 30> longest_lengths{
    1536,  2047,  2048,  2049,   3072,   4095,   4096,   4097,   5000,   8191,
    8192,  8193,  12289, 16383,  16384,  16385,  32000,  32767,  32768,  32769,
    65535, 65536, 65537, 131071, 131072, 131073, 262143, 262144, 262145, 300001};
/// The largest size of a grid's second and third dimension, and one more.
constexpr std::array<std::int64_t, 2> grid_limits{65535, 65536};

/// The largest upper end that is drawn like small values; a larger one is drawn as a large value.
constexpr std::int64_t most_bound = 1024;

Role role_of(const ParameterSpec& spec, const SlotClass& slot_class) {
    if (!slot_class.multiples.empty()) return Role::divisor;
    if (!slot_class.divisors.empty()) return Role::multiple;
    if (spec.is_padding) return Role::padding;
    if (spec.carries_rank) return Role::size;
    return spec.kind == ParameterKind::scalar ? Role::scalar : Role::geometry;
}

/// Sizes and counts weigh more: they make long reductions and large grids.
int weight_of(Role role) {
    if (role == Role::scalar) return 6;
    return enlarges(role) ? 3 : 1;
}

void add_large(const ClassLevels& levels, const SlotClass& slot_class, std::int64_t value,
               std::vector<std::int64_t>& values) {
    for (const std::int64_t rounded :
         {round_down(value, slot_class.step), round_up(value, slot_class.step)})
        if (rounded > levels.smallest + 7 * slot_class.step && rounded <= slot_class.highest &&
            std::ranges::count(values, rounded) == 0)
            values.push_back(rounded);
}

/// Offset from the smallest value, in steps; small ones come most often.
std::uint64_t small_offset(Role role, SplitMix64& random) {
    const std::uint64_t roll = random.below(20);
    switch (role) {
        case Role::scalar:
            return roll < 5 ? 0 : roll < 16 ? random.below(4) : random.below(8);
        case Role::size:
            return roll < 2 ? 0 : roll < 14 ? random.below(8) : random.below(24);
        case Role::geometry:
            return roll < 6 ? 0 : roll < 15 ? random.below(3) : random.below(roll < 18 ? 5 : 8);
        case Role::padding:
            return roll < 8 ? 0 : roll < 16 ? random.below(3) : random.below(6);
        case Role::divisor:
            return roll < 11 ? 0 : roll < 17 ? random.below(4) : random.below(8);
        case Role::multiple:
            break;
    }
    return roll < 8 ? random.below(3) : random.below(8);
}

template <std::size_t count>
std::int64_t one_of(const std::array<std::int64_t, count>& values, SplitMix64& random) {
    return values[random.below(count)];
}

// A value that stands there more than once is drawn more often.
constexpr std::array<std::int64_t, 14> steps_above_one{3, 3, 3, 3, 3, 2, 2, 2, 2, 5, 5, 7, 7, 4};
constexpr std::array<std::int64_t, 12> images{3, 4, 4, 5, 6, 7, 8, 8, 10, 14, 16, 28};
constexpr std::array<std::int64_t, 14> counts{1, 1, 1, 1, 1, 2, 2, 2, 3, 4, 4, 8, 16, 64};
constexpr std::array<std::int64_t, 16> channels{1,  2,  3,  4,  8,  8,  12, 16,
                                                16, 16, 24, 32, 32, 48, 64, 64};
constexpr std::array<std::int64_t, 6> group_counts{2, 3, 4, 4, 8, 16};
constexpr std::array<std::int64_t, 6> channels_of_group{1, 1, 1, 2, 4, 8};

}  // namespace

bool enlarges(Role role) {
    return role == Role::scalar || role == Role::size || role == Role::multiple;
}

ClassLevels levels_of(const ParameterSpace& space, const RankDomain& domain, int which) {
    const SlotClass& slot_class = domain.at(which);
    const Slot& first = space.slot(domain.rank, slot_class.slots.front());
    const ParameterSpec& spec = space.spec(first);
    const bool one_axis = std::ranges::all_of(slot_class.slots, [&](int slot) {
        return space.slot(domain.rank, slot).axis == first.axis;
    });
    ClassLevels levels{.role = role_of(spec, slot_class),
                       .parameter = first.parameter,
                       .axis = one_axis ? first.axis : -1,
                       .takes_zero = slot_class.lowest == 0 && spec.default_value > 0,
                       .is_bounded = slot_class.highest <= most_bound,
                       .smallest = slot_class.smallest,
                       .highest = slot_class.highest};
    std::vector<std::int64_t>& large = levels.large;
    for (const std::int64_t length : lengths) add_large(levels, slot_class, length, large);
    if (enlarges(levels.role))
        for (const std::int64_t length : longest_lengths)
            add_large(levels, slot_class, length, levels.longest);
    if (spec.kind == ParameterKind::scalar)
        for (const std::int64_t limit : grid_limits) add_large(levels, slot_class, limit, large);
    if (enlarges(levels.role) && std::ranges::count(levels.large, grid_limits.back()) > 0)
        levels.beyond_grid = grid_limits.back();
    if (slot_class.highest < spec.maximum) add_large(levels, slot_class, slot_class.highest, large);
    levels.large_weight = large.empty() ? 0 : weight_of(levels.role);
    return levels;
}

std::int64_t small_value(const ClassLevels& levels, std::int64_t unit, bool generous,
                         SplitMix64& random) {
    if (unit == 0) return levels.smallest;
    const std::int64_t count = (levels.highest - levels.smallest) / unit + 1;
    auto offset = static_cast<std::int64_t>(small_offset(levels.role, random));
    if (generous && enlarges(levels.role))
        offset = std::max(offset, static_cast<std::int64_t>(small_offset(levels.role, random)));
    if (levels.is_bounded) {
        // At the end of its range a kernel may promise too much.
        if (random.one_in(8)) return levels.highest;
        if (offset >= count || random.one_in(8))
            offset = random.between(0, std::min(count, std::int64_t{64}) - 1);
    }
    return levels.smallest + offset * unit;
}

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
    std::vector<std::int64_t> sorted{1, 1};
    sorted.insert(sorted.end(), geometry.begin(), geometry.end());
    std::ranges::sort(sorted, std::greater());
    const std::int64_t filter = sorted[0], dilation = sorted[1];
    const std::uint64_t roll = random.below(8);
    if (roll == 0) return filter - 1;
    if (roll == 1) return (filter - 1) * dilation / 2;
    return roll < 5 ? 0 : filter / 2;
}

std::int64_t tiled_value(SplitMix64& random) {
    constexpr std::int64_t most = 160;
    constexpr std::array<std::int64_t, 4> tiles{8, 16, 32, 64};
    const std::int64_t tile = one_of(tiles, random);
    const std::int64_t value =
        tile * random.between(std::max<std::int64_t>(16 / tile, 1), most / tile);
    const std::uint64_t roll = random.below(8);
    return roll == 0 ? value - 1 : roll == 1 ? value + 1 : value;
}

}  // namespace gradverify
