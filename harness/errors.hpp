// SPDX-License-Identifier: Apache-2.0
// Decides which errors end a run before a verdict: the caller's (exit code 2) and the
// environment's (exit code 3). Verdicts never travel as exceptions.
#pragma once

#include <stdexcept>

namespace gradverify {

/// What was asked for does not exist or can't be read; the text says what is accepted.
struct UsageError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// The machine can't do it: no such device, a file that can't be written, no process.
struct EnvironmentError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace gradverify
