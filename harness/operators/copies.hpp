// SPDX-License-Identifier: Apache-2.0
// Decides what a problem is that was made of copies of a small one, along what an operator says it
// is separable along: its parameters, the axis of each tensor that the copies lie along, and
// whether a pass obeys the law. Knows no device and draws nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/operators/operator.hpp"

namespace gradverify {

/// Null when the operator is not separable along anything of this name.
const SeparableSpec* find_separable(const Operator& op, std::string_view name);
/// `n, channels`; `nothing`.
std::string print_separable(const Operator& op);

/// What is wrong with what an operator declares to be separable along, and what would be right.
std::vector<std::string> mistakes_in_separable(const Operator& op);

/// Why no copies can be made of this problem; nothing when they can.
std::optional<std::string> why_not_multiplied(const SeparableSpec& along, const Problem& problem);

/// Copies of a problem, as one problem.
///
/// **Ranges** not `why_not_multiplied`; the values stay within 64 bits.
Problem multiplied(const Problem& one, const SeparableSpec& along, std::int64_t copies);
/// The problem that a large one is copies of; nothing where it is not.
std::optional<Problem> one_copy(const Problem& large, const SeparableSpec& along,
                                std::int64_t copies);

/// The axis of a tensor that its copies lie along, or none: the tensor is shared, or summed.
///
/// **Errors** std::invalid_argument when sizes change in any other way.
std::optional<std::size_t> axis_of_copies(const Operator& op, std::string_view tensor,
                                          const Problem& one, const SeparableSpec& along);

/// One copy of an array that is copies along an axis.
Array<double> slice(const Array<double>& all, std::size_t axis, std::int64_t copies,
                    std::int64_t which);

/// Why a pass is not what its copies are, by its reference on these inputs: nothing where the
/// copies' results, one behind the other or summed, are the whole's.
///
/// **Shapes** `taken`: what the pass's reference takes, of `copies` copies of `one`.
std::optional<std::string> why_not_separable(const Operator& op, const PassSpec& pass,
                                             const Problem& one, const SeparableSpec& along,
                                             const std::vector<Array<double>>& taken,
                                             std::int64_t copies);

}  // namespace gradverify
