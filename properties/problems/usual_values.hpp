// SPDX-License-Identifier: Apache-2.0
// Decides which values a class is drawn at in problems like those of real networks, where kernels
// take their fast paths: filters and windows of few sizes with the padding that goes with them,
// counts and images that fill tiles. Knows no operator and no problem.
#pragma once

#include <cstdint>
#include <span>

#include "harness/base/random.hpp"
#include "properties/problems/value_levels.hpp"

namespace gradverify {

/// What a parameter of the geometry is in a usual problem: at its default, the one that the others
/// go with (a filter, a window), or one beside that (a stride).
enum class GeometryPart { plain, first, second };

/// A value of the geometry as networks have it.
std::int64_t usual_step(const ClassLevels& levels, GeometryPart part, SplitMix64& random);

/// A count or a size as networks have it; a multiple of `unit` where the class has divisors.
std::int64_t usual_count(const ClassLevels& levels, std::int64_t unit, SplitMix64& random);

/// A padding beside these values of the geometry of its axis: none; half of a filter, so that the
/// image keeps its size; the same of one that is dilated; all of a filter but one.
std::int64_t usual_padding(std::span<const std::int64_t> geometry, SplitMix64& random);

/// From a warp's half to a few tiles: a multiple of 8, 16, 32 or 64, or its neighbour.
std::int64_t tiled_value(SplitMix64& random);

}  // namespace gradverify
