// SPDX-License-Identifier: Apache-2.0
// Decides which numbers a case's tensors hold: integers small enough that every order of summation
// gives the same bits, or numbers with full mantissas; from a seed, or as listed in the case.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/operators/operator.hpp"
#include "harness/registry/element_types.hpp"

namespace gradverify {

enum class ValueKind {
    /// Integers whose sums of products stay below 2^p of the accumulation type, with room for one
    /// unit step in any direction of the same size.
    integers,
    /// Random mantissas with all bits in use; sometimes rows of very different magnitude.
    mantissas,
};

/// The values of an operator's inputs and of its outputs' cotangents, by name.
using Values = std::map<std::string, Array<double>, std::less<>>;

/// The names, in the operator's order.
std::vector<std::string> drawn_tensors(const Operator& op);

/// Draws the values of a case, each a number of its tensor's type. Dense ones have no zero, unless
/// a sum is exact only with zeros, and differ over all tensors as far as there are numbers. Inputs
/// of a piecewise linear operator have many ties in every fourth draw, and in dense ones from the
/// fifth on; inputs that may be NaN are it in every eighth, and in dense ones from the seventh on.
Values draw_values(const Operator& op, const Problem& problem, const Data& data, ValueKind kind,
                   const ElementTypes& types);

/// The first dense draws of an operator that is no sum of products: as they are, with outliers,
/// with an offset, and all tiny.
inline constexpr int draws_of_sizes = 4;

/// Whether these are the dense draw in which all inputs of such an operator are tiny. What passes
/// there says little: an error of a curved function may vanish.
bool is_tiny_draw(const Operator& op, const Data& data);

/// Whether many elements of this draw are alike, or zero, where pieces of the operator meet.
bool meets_kinks(const Operator& op, const Data& data, ValueKind kind);
/// Whether all inputs in this draw of a chain are positive: its ReLUs leave little of other values.
bool inputs_are_positive(const Operator& op, const Data& data);

/// Whether what one of these tensors holds hangs on all of them.
bool are_drawn_together(const Operator& op, const Data& data, ValueKind kind);

/// One of these tensors alone, from a stream of its own.
Array<double> draw_tensor(const Operator& op, const Problem& problem, const Data& data,
                          ValueKind kind, const ElementTypes& types, const std::string& name);

/// A direction of an input's sizes along which a smooth function changes: elements of size one.
Array<double> draw_smooth_direction(const Array<double>& like, std::uint64_t seed);

/// A direction of integers up to `largest`, not all zero. Adding it keeps `integers` exact.
Array<double> draw_direction(const Array<double>& like, std::uint64_t seed, int exact_bits,
                             std::int64_t reduction_length, std::int64_t largest = 64);

/// Whether the operator takes whole numbers, such as indices.
bool takes_indices(const Operator& op);
/// The dense draws of such an operator that is no chain: first some with mixed indices, then one in
/// which all are at their simplest value, one in which they ascend from there, and one in which all
/// are highest.
int draws_of_mixed_indices(const Operator& op);
inline constexpr int draws_of_simple_indices = 3;

/// The longest sum in any pass of the operator.
std::int64_t longest_reduction(const Operator& op, const Problem& problem);

/// The outputs of the forward pass as gradients take them: the reference's, rounded to their types.
std::vector<Array<double>> saved_values(const Operator& op, const Problem& problem,
                                        const std::vector<Array<double>>& inputs,
                                        const ElementTypes& types);

/// The arrays of the named tensors, in this order; outputs of the forward pass too.
std::vector<Array<double>> pick(const Operator& op, const Problem& problem, const Values& values,
                                const std::vector<std::string>& names, const ElementTypes& types);

/// Every element that is not at its simplest value, of the tensors that can matter to a case of the
/// kernel: its pass's inputs, and the forward pass's if it takes outputs.
std::vector<DataElement> list_data(const Kernel& kernel, const Problem& problem, const Data& data,
                                   ValueKind kind);

}  // namespace gradverify
