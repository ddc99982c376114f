// SPDX-License-Identifier: Apache-2.0
// Decides what an operator with a filter is on complex numbers, given what it is on real ones: the
// same parameters and passes, and tensors with one more axis at the end, of pairs.
#pragma once

#include "harness/operators/operator.hpp"

namespace gradverify {

/// Which channels are the first axis of a filter: those of the output, as conv has it, or those of
/// the input, as conv_transpose has it.
enum class FirstChannels { of_output, of_input };

/// `complex_` and the operator's name. Of an operator with channels `c` and `k`, a filter `w`, and
/// passes grad_input and grad_weight among others.
Operator on_complex_numbers(Operator real, FirstChannels first);

}  // namespace gradverify
