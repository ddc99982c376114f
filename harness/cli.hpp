// SPDX-License-Identifier: Apache-2.0
// Decides the command line: verbs, options, and exit codes. Every executable that links
// gradverify::main has it.
#pragma once

#include "harness/property.hpp"

namespace gradverify {

/// 0: everything selected passed. 1: a row failed, was vacuous or errored, or a selected kernel is
/// not verified. 2: bad usage. 3: the environment can't do it.
inline constexpr int exit_ok = 0, exit_failed = 1, exit_usage = 2, exit_environment = 3;

int gradverify_main(int argc, char** argv, const Suite& suite);

}  // namespace gradverify
