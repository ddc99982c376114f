// SPDX-License-Identifier: Apache-2.0
// Decides how a command ends: its exit code, and the errors that end a run before a verdict.
#pragma once

#include <stdexcept>

namespace gradverify {

/// 0: everything selected passed. 1: a row failed, was vacuous or errored, or a selected kernel is
/// not verified. 2: bad usage. 3: the environment can't do it.
inline constexpr int exit_ok = 0, exit_failed = 1, exit_usage = 2, exit_environment = 3;

/// A request that does not exist or can't be read; the text says what is accepted.
struct UsageError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// The machine can't do it: no such device, a file that can't be written, no process.
struct EnvironmentError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What a call of a reader gives. **Errors** UsageError where it throws std::invalid_argument.
auto usage_of(const auto& read) {
    try {
        return read();
    } catch (const std::invalid_argument& wrong) {
        throw UsageError(wrong.what());
    }
}

}  // namespace gradverify
