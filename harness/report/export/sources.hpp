// SPDX-License-Identifier: Apache-2.0
// The files that a kernel is compiled from, as a folder that stands alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/registry/kernel_declaration.hpp"

namespace gradverify {

/// Files by their place in the folder: gradverify's headers in `gradverify/`, others in `kernel/`.
struct SourceFolder {
    std::map<std::string, std::string> texts;
    std::vector<std::string> sources;      ///< those of them that are compiled
    std::vector<std::string> includes;     ///< the folders in it where headers are looked for
    std::vector<std::string> definitions;  ///< `NAME` or `NAME=VALUE`
};

/// The kernel's file, those of its unit that register no kernel, and every header that these
/// include from the folders of their build. Other headers are the compiler's and CUDA's.
/// **Errors** EnvironmentError where the kernel's file, or how it was built, can't be read.
SourceFolder sources_of(const KernelDeclaration& kernel);

/// What a line of C++ includes, behind the `"` or `<` that it begins with.
std::optional<std::string> included_in(std::string_view line);

}  // namespace gradverify
