// SPDX-License-Identifier: Apache-2.0
// Remembers the first Ctrl-C or request to end, so that result files are closed; a second one ends
// the process at once.
#pragma once

#include <exception>

namespace gradverify {

/// Thrown where the driver waits for workers.
struct Interrupted : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

/// Remembers SIGINT, SIGTERM and SIGHUP while it lives. One at a time.
class InterruptScope {
  public:
    InterruptScope();
    ~InterruptScope();
    InterruptScope(const InterruptScope&) = delete;
    InterruptScope& operator=(const InterruptScope&) = delete;
};

/// The signal that came, or 0.
int interrupt_signal();
/// **Errors** Interrupted when one came.
void throw_if_interrupted();

}  // namespace gradverify
