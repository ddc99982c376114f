// SPDX-License-Identifier: Apache-2.0
// Decides what a case takes from files of recorded tensors: which problem their sizes are of, and
// the values, as numbers of the kernel's types.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cases/tensor_file.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

class ElementTypes;

/// The problem that the files' tensors have the sizes of. `text` gives parameters as --problem
/// does; others are taken from the sizes as far as one value alone fits, and attributes are at
/// their defaults.
/// **Errors** std::invalid_argument: no tensor of the operator is there, a parameter is not told,
/// or sizes don't fit, with both.
Problem problem_of(const Operator& op, const TensorFiles& files, std::string_view text);

/// An input or cotangent that the files hold, rounded to its type; nothing where they don't.
/// **Errors** std::invalid_argument: sizes that are not the problem's, or values not the tensor's.
std::optional<Array<double>> recorded_tensor(const std::vector<std::string>& files,
                                             const Operator& op, const Problem& problem,
                                             const ElementTypes& types, const std::string& name);

/// What happens to the files' tensors in a case of the kernel, a sentence for each that is rounded
/// or left out. **Errors** those of `recorded_tensor`.
std::vector<std::string> remarks_on(const std::vector<std::string>& files, const Kernel& kernel,
                                    const Problem& problem);

}  // namespace gradverify
