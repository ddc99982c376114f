// SPDX-License-Identifier: Apache-2.0
// Decides how a pass and its tensors are told in words: what each is for, and its sizes by the
// names of parameters.
#pragma once

#include <string>
#include <string_view>

#include "harness/operators/operator.hpp"

namespace gradverify {

/// What a tensor is to a pass: "input", "saved", "output", "gradient".
std::string role_of(const Operator& op, const PassSpec& pass, const std::string& tensor);

/// `(b, sq, h, d)`. A size is a parameter, a number, one more than a parameter, or two parameters'
/// product or quotient; `out_h` and `out_w` are what a window leaves; anything else is `...`.
std::string print_sizes(const Operator& op, std::string_view tensor);
/// Whether a size of some input is a parameter, or grows with it: not of one that divides another,
/// as the number of groups does.
bool sets_a_size(const Operator& op, std::string_view parameter);

/// `grad_input (dy, x -> dx)`
std::string print_pass(const PassSpec& pass);
/// The same of several, with commas between them.
std::string print_passes(const Operator& op);

}  // namespace gradverify
