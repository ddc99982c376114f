// SPDX-License-Identifier: Apache-2.0
// What every test executable's main ends with.
#pragma once

namespace gradverify {

/// Runs doctest with these arguments. Unlike with doctest alone, a run that selects no test fails.
int run_tests(int argc, char** argv);

}  // namespace gradverify
