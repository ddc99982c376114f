// SPDX-License-Identifier: Apache-2.0
// Decides the command line of every executable that links gradverify::main.
#pragma once

#include "harness/cases/suite.hpp"

namespace gradverify {

int gradverify_main(int argc, char** argv, const Suite& suite);

}  // namespace gradverify
