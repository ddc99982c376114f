// SPDX-License-Identifier: Apache-2.0
// Decides how files that a command line names become a program: CMake builds them over gradverify's
// package, in a folder of the user's cache that is kept, so that only what has changed is built.
#pragma once

#include <filesystem>
#include <string>

#include "harness/drafting/user_files.hpp"

namespace gradverify {

/// `$XDG_CACHE_HOME/gradverify` or `~/.cache/gradverify`. **Errors** EnvironmentError without both.
std::filesystem::path cache_folder();

/// Has the files kept apart, where none is yet, that hold kernels and register nothing, if others
/// declare them and include none of them.
void keep_launchers_apart(UserFiles& files);

/// The path of gradverify over the files' kernels, built. Its kernels are built for each device
/// that this gradverify has, or for `device` alone, where that is "cpu" or "cuda".
/// **Errors** UsageError with what the compiler says; EnvironmentError where there is no CMake, no
/// compiler, no package of this gradverify, or nowhere to build.
std::string program_over(const UserFiles& given, const std::string& device);

}  // namespace gradverify
