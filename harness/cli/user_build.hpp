// SPDX-License-Identifier: Apache-2.0
// Decides how files that a command line names become a program: CMake builds them over gradverify's
// package, in a folder of the user's cache that is kept, so that what has not changed is not built
// again.
#pragma once

#include <string>

#include "harness/cli/user_files.hpp"

namespace gradverify {

/// The path of gradverify over the files' kernels, built. Without `for_cpu_alone` its kernels are
/// built for the device cuda, too, where this gradverify has it.
/// **Errors** UsageError with what the compiler says; EnvironmentError where there is no CMake, no
/// compiler, no package of this gradverify, or nowhere to build.
std::string program_over(const UserFiles& given, bool for_cpu_alone);

}  // namespace gradverify
