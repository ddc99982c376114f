// SPDX-License-Identifier: Apache-2.0
// Decides the command line: verbs, options, and exit codes. Every executable that links
// gradverify::main has it.
#pragma once

#include "harness/cases/suite.hpp"

namespace gradverify {

int gradverify_main(int argc, char** argv, const Suite& suite);

}  // namespace gradverify
