// SPDX-License-Identifier: Apache-2.0
// Decides what a problem of many copies of a small one is, along parameters that the operator
// declares to be separable: its parameters, the axis of each tensor that the copies lie along, and
// whether a pass gives for the whole what it gives for the copies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/operators/operator.hpp"

namespace gradverify {

/// The mistakes in what an operator declares as separable, and what would be right.
std::vector<std::string> mistakes_in_separable(const Operator& op);

/// Why no copies can be made of this problem; nothing when they can.
std::optional<std::string> why_not_multiplied(const SeparableSpec& along, const Problem& problem);

/// Copies of a problem, as one problem.
/// **Ranges** not `why_not_multiplied`; the values stay within 64 bits.
Problem multiplied(const Problem& one, const SeparableSpec& along, std::int64_t copies);
/// The problem that a large one is copies of; nothing where it is not.
std::optional<Problem> one_copy(const Problem& large, const SeparableSpec& along,
                                std::int64_t copies);

/// The axis of a tensor that its copies lie along, or none: the tensor is shared, or summed.
/// **Errors** std::invalid_argument when sizes change in any other way.
std::optional<std::size_t> axis_of_copies(const Operator& op, std::string_view tensor,
                                          const Problem& one, const SeparableSpec& along);

/// One copy of an array that is copies along an axis.
Array<double> slice(const Array<double>& all, std::size_t axis, std::int64_t copies,
                    std::int64_t which);
/// So many copies of an array along an axis, all alike.
Array<double> repeated(const Array<double>& one, std::size_t axis, std::int64_t copies);

/// Why a pass's reference gives for the copies' whole something else than their results, one behind
/// the other or summed; nothing where it gives the same.
/// **Shapes** `taken`: what the pass's reference takes, for `copies` copies of `one`.
std::optional<std::string> why_not_separable(const Operator& op, const PassSpec& pass,
                                             const Problem& one, const SeparableSpec& along,
                                             const std::vector<Array<double>>& taken,
                                             std::int64_t copies);

}  // namespace gradverify
