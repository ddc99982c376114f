// SPDX-License-Identifier: Apache-2.0
// What every test executable's main ends with.
#pragma once

namespace gradverify {

/// Runs doctest with these arguments.
int run_tests(int argc, char** argv);

}  // namespace gradverify
