// SPDX-License-Identifier: Apache-2.0
// Decides what is a mistake in an operator's padding. Each function gives the sentence that says
// what is right, or nothing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/operators/forward_call.hpp"

namespace gradverify {

/// Whether a tensor can have these lengths.
std::string mistake_in_lengths(const Operator& op, const std::string& tensor,
                               const Lengths& lengths);

/// Whether the forward function reads padding on these inputs, or leaves something in it.
std::string mistake_with_padding(const Operator& op,
                                 const std::function<void(const ForwardCall<double>&)>& forward,
                                 const Problem& problem, const std::vector<Array<double>>& inputs);

}  // namespace gradverify
