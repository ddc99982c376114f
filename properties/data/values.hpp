// SPDX-License-Identifier: Apache-2.0
// Decides which numbers a case's tensors hold: integers small enough that every order of summation
// gives the same bits, or numbers with full mantissas; from a seed, dense or with what real data
// has, or as listed in the case.
// Generic over operators; does not call kernels.
#pragma once

#include <map>
#include <string>
#include <string_view>
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

/// The values of an operator's inputs, and of the cotangents of its differentiable outputs, by
/// name.
using Values = std::map<std::string, Array<double>, std::less<>>;

/// Their names, in the operator's order.
std::vector<std::string> drawn_tensors(const Operator& op);

/// Draws the values of a case, each a number of its tensor's type. Dense ones have no zero and all
/// differ, over all tensors, as long as there are as many numbers of the kind; then over as many
/// neighbours as there are. Integers of a sum that is exact only with zeros in it keep them. Inputs
/// of an operator that is piecewise linear have many ties and zeros in every fourth draw, and in
/// dense ones from the fifth on; those that may be NaN are in every eighth, and in dense ones from
/// the seventh on.
Values draw_values(const Operator& op, const Problem& problem, const Data& data, ValueKind kind,
                   const ElementTypes& types);

/// Where pieces of the operator meet is where many elements are alike, or zero: whether this draw's
/// are.
bool meets_kinks(const Operator& op, const Data& data, ValueKind kind);
/// Behind each other, ReLUs leave little of values of both signs: whether all inputs in this draw
/// of a chain of layers are positive.
bool inputs_are_positive(const Operator& op, const Data& data);

/// One of these tensors alone: each has a stream of its own, so the others need not be drawn.
Array<double> draw_tensor(const Operator& op, const Problem& problem, const Data& data,
                          ValueKind kind, const ElementTypes& types, const std::string& name);

/// A direction of an input's sizes along which a smooth function changes: elements of size one.
Array<double> draw_smooth_direction(const Array<double>& like, std::uint64_t seed);

/// A direction of an input's sizes: small integers, not all zero if there is an element. Adding it
/// keeps `integers` exact.
///
/// **Ranges** of magnitude at most `largest`.
Array<double> draw_direction(const Array<double>& like, std::uint64_t seed, int exact_bits,
                             std::int64_t reduction_length, std::int64_t largest = 64);

/// The longest sum in any pass of the operator.
std::int64_t longest_reduction(const Operator& op, const Problem& problem);

/// The outputs of the forward pass as the reference gives them, each rounded to its type: what a
/// gradient that takes them is given.
std::vector<Array<double>> saved_values(const Operator& op, const Problem& problem,
                                        const std::vector<Array<double>>& inputs,
                                        const ElementTypes& types);

/// The arrays of the named tensors, in this order; outputs of the forward pass too.
std::vector<Array<double>> pick(const Operator& op, const Problem& problem, const Values& values,
                                const std::vector<std::string>& names, const ElementTypes& types);

/// The tensors that are drawn, or listed, for a pass: its inputs, and what those that the forward
/// pass saves follow from.
std::vector<std::string> drawn_for(const Operator& op, const PassSpec& pass);

/// Every element of these tensors that is not at its simplest value.
std::vector<DataElement> list_elements(const Operator& op, const Problem& problem,
                                       const Values& values, const std::vector<std::string>& names,
                                       const ElementTypes& types);

/// The same of the tensors whose values can matter to a case of the kernel.
std::vector<DataElement> list_data(const Kernel& kernel, const Problem& problem, const Data& data,
                                   ValueKind kind);

}  // namespace gradverify
