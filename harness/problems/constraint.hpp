// SPDX-License-Identifier: Apache-2.0
// Decides how a kernel or an operator says which problems it supports: by conditions on named
// parameters, which properties/problems/solver.hpp solves. CUDA units include this file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/problems/problem.hpp"

namespace gradverify {

/// One condition on one named parameter.
struct Constraint {
    enum class Kind {
        range,                  ///< minimum <= value <= maximum
        multiple_of,            ///< value is a multiple of `factor`
        same_as,                ///< value equals the parameter `other`
        multiple_of_parameter,  ///< value is a multiple of the parameter `other`
    };
    std::string parameter;
    Kind kind = Kind::range;
    std::int64_t minimum = 0, maximum = 0, factor = 1;
    std::string other;

    /// As `list` prints it: `stride = 1`, `c multiple of 4`, `filter_h = filter_w`.
    std::string print() const;
};

/// The condition without the parameter's name; see `equals` and its neighbours.
using Condition = Constraint;

/// The parameter has this value.
Condition equals(std::int64_t value);
/// The parameter lies in `[minimum, maximum]`.
Condition between(std::int64_t minimum, std::int64_t maximum);
/// The parameter is a multiple of `factor`.
Condition multiple_of(std::int64_t factor);
/// The parameter equals another one: `where("filter_h", same_as("filter_w"))`.
Condition same_as(std::string_view other);
/// The parameter is a multiple of another one: `where("c", multiple_of("groups"))`.
Condition multiple_of(std::string_view other);

/// A slot that a constraint restricts, and the slot that it is related to, or -1.
struct SlotPair {
    int slot = 0;
    int other = -1;
};

/// The slots that a constraint restricts. Two parameters are paired slot by slot, or each slot of
/// one with the other's only slot.
/// **Errors** std::invalid_argument when a name is unknown or the numbers of slots do not match.
std::vector<SlotPair> slots_of(const Constraint& constraint, const ParameterSpace& space, int rank);

/// The first constraint that the problem violates, or null.
const Constraint* first_violated(std::span<const Constraint> constraints, const Problem& problem);

/// Checks that every name in the constraints exists at each of these ranks of the space.
/// **Errors** std::invalid_argument naming the constraint, the unknown parameter and those known.
void check_names(std::span<const Constraint> constraints, const ParameterSpace& space,
                 RankRange ranks);

}  // namespace gradverify
