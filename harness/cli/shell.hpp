// SPDX-License-Identifier: Apache-2.0
// Decides how shells complete the command line, and what its man page says, from its options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "harness/cases/property.hpp"

namespace gradverify {

/// The commands that a person gives.
std::vector<std::string> verb_names(const CLI::App& app);

/// A script for `bash` that completes verbs, options, kernels, operators, properties and devices.
/// **Errors** UsageError for another shell.
std::string completion_of(const CLI::App& app, const std::string& shell,
                          const std::vector<const Property*>& properties);

inline constexpr const char* exit_codes =
    "0 all passed; 1 something failed, or check verified nothing of a kernel;\n"
    "2 bad usage; "
    "3 the machine can't do it (no such device, a file that can't be written).";

/// The man page of section 1.
std::string man_page_of(const CLI::App& app);

}  // namespace gradverify
