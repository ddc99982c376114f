// SPDX-License-Identifier: Apache-2.0
// Decides what a user's problem means to each operator that takes it, or is said where none does.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/operators/operator.hpp"

namespace gradverify {

/// A problem as one operator reads it.
struct UserProblem {
    const Operator* op;
    Problem problem;
};

/// Why an operator's selected kernels don't take a valid problem; nothing where one does.
using WhyNot = std::function<std::optional<std::string>(const Operator&, const Problem&)>;

/// The problem as each of the operators reads it that takes it.
///
/// **Errors** UsageError when none does. It begins with `place` and tells what the operator says
/// that the text was most likely meant for: the first that knows most of its parameters.
std::vector<UserProblem> read_user_problem(const std::string& text, const std::string& place,
                                           std::span<const Operator* const> operators,
                                           const WhyNot& why_not);

}  // namespace gradverify
