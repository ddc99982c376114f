// SPDX-License-Identifier: Apache-2.0
// Decides how shells complete the command line, and what its man page says: both from the options
// as they are defined.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace gradverify {

/// A script for `bash`, `zsh` or `fish` that completes verbs and options.
/// **Errors** UsageError for another shell.
std::string completion_of(const CLI::App& app, const std::string& shell);

/// The man page of section 1.
std::string man_page_of(const CLI::App& app);

}  // namespace gradverify
