// SPDX-License-Identifier: Apache-2.0
// Decides how files that a command line names become a program: CMake builds them over gradverify's
// package, in a folder of the user's cache that is kept, so that only what has changed is built.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "harness/base/errors.hpp"
#include "harness/drafting/user_files.hpp"

namespace gradverify {

/// `$XDG_CACHE_HOME/gradverify` or `~/.cache/gradverify`. **Errors** EnvironmentError without both.
std::filesystem::path cache_folder();

/// Has the files kept apart, where none is yet, that hold kernels and register nothing, if others
/// declare them and include none of them.
void keep_launchers_apart(UserFiles& files);

/// Files that can't be built, or not in time.
struct BuildError : UsageError {
    explicit BuildError(std::string compiler_said);
    std::string said;    ///< by the compiler; empty: time ran out
    std::string first;   ///< its first error, without the place
    std::string source;  ///< `their.cu:7`; empty where the error names none
};

/// The path of gradverify over the files' kernels, built. Its kernels are built for each device
/// that this gradverify has, or for `device` alone, where that is "cpu" or "cuda". `seconds`: the
/// most that the compilers may take.
/// **Errors** BuildError with what the compiler says; EnvironmentError where there is no CMake, no
/// compiler, no package of this gradverify, or nowhere to build.
std::string program_over(const UserFiles& given, const std::string& device,
                         std::optional<double> seconds = {});

}  // namespace gradverify
