// SPDX-License-Identifier: Apache-2.0
// Writes a failing case as what one attaches to a bug report: it needs nvcc, and no gradverify.
#pragma once

#include <string>

#include "harness/cases/bare_case.hpp"
#include "harness/cases/case.hpp"

namespace gradverify {

/// Writes a folder: `repro.cu` with the data, a CMakeLists.txt, a README, and the kernel's files.
/// `what`: what is wrong, in a few words. The folder is made, or must be empty.
/// **Errors** UsageError for more elements than a source file can list; EnvironmentError where the
/// kernel's files can't be read or the folder can't be written.
void export_reproducer(const std::string& folder, const Case& failing, const std::string& what,
                       const Reproducer& reproducer);

/// Writes the same as one Python file, which compares PyTorch's tensors in float64: it builds the
/// kernel's files, or calls a function of an extension.
void export_python_reproducer(const std::string& file, const Case& failing, const std::string& what,
                              const Reproducer& reproducer);

}  // namespace gradverify
