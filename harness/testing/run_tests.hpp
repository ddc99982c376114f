// SPDX-License-Identifier: Apache-2.0
// What every test executable's main ends with.
#pragma once

namespace gradverify {

/// Runs doctest with these arguments. A run whose filters select no test fails: doctest itself
/// would call it a success.
int run_tests(int argc, char** argv);

}  // namespace gradverify
