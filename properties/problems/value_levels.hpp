// SPDX-License-Identifier: Apache-2.0
// Decides which values a class of slots is drawn at, by its kind and its relations to others: small
// and large ones, and those of real networks, where kernels take their fast paths.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harness/base/random.hpp"
#include "properties/problems/solver.hpp"

namespace gradverify {

/// What matters about a class of slots for drawing its value.
struct ClassLevels {
    enum class Role {
        scalar,    ///< n
        size,      ///< carries the rank: the image
        geometry,  ///< another number per axis: filter, stride, dilation
        padding,   ///< zero by default
        divisor,   ///< others are multiples of it: groups
        multiple,  ///< a multiple of another: channels
    };
    Role role = Role::scalar;
    int parameter = 0;        ///< of its first slot
    int axis = -1;            ///< of all its slots, or -1
    bool takes_zero = false;  ///< zero is allowed, and is not the default
    bool is_bounded = false;  ///< a constraint gives it a low upper end
    std::int64_t smallest = 0, highest = 0;
    std::vector<std::int64_t> large;          ///< the large values that it may take
    std::vector<std::int64_t> longest;        ///< those beyond what a block takes in a few rounds
    std::optional<std::int64_t> beyond_grid;  ///< of them, the one that no grid's y or z takes
    int large_weight = 0;                     ///< how often it is the large one
};

ClassLevels levels_of(const ParameterSpace& space, const RankDomain& domain, int which);

/// Whether a larger value usually makes a problem larger.
bool enlarges(ClassLevels::Role role);

/// The smallest value plus few times `unit`, the step that the class has now; for sizes and counts
/// the larger of two such values when `generous`. The smallest where `unit` is 0.
std::int64_t small_value(const ClassLevels& levels, std::int64_t unit, bool generous,
                         SplitMix64& random);

/// A parameter of the geometry in a usual problem: at its default, the one that the others follow
/// (a filter, a window), or one beside that (a stride).
enum class GeometryPart { plain, first, second };

/// A value of the geometry as networks have it.
std::int64_t usual_step(const ClassLevels& levels, GeometryPart part, SplitMix64& random);

/// A count or a size as networks have it; a multiple of `unit` where the class has divisors.
std::int64_t usual_count(const ClassLevels& levels, std::int64_t unit, SplitMix64& random);

/// A padding for these values of the geometry of its axis: none; half of a filter, dilated or not,
/// so that the image keeps its size; all of a filter but one.
std::int64_t usual_padding(std::span<const std::int64_t> geometry, SplitMix64& random);

/// From a warp's half to a few tiles: a multiple of 8, 16, 32 or 64, or its neighbour.
std::int64_t tiled_value(SplitMix64& random);

}  // namespace gradverify
